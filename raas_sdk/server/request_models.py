"""The bodies that routes take, as pydantic models: for checking the small ones and for the API's description."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

__all__ = ["BackendBody", "CancelBody", "ProcessBody", "described"]

Name = Annotated[str, Field(min_length=1, max_length=256)]


class ProcessBody(BaseModel):
    """One rollout. The gateway's admission checks it; this model describes it."""

    model_config = ConfigDict(extra="forbid")

    instance: dict[str, Any] = Field(description="The task; `data_source` decides which plugin serves it.")
    sampling_params: dict[str, Any] | None = Field(None, description="Sampling parameters and limits of this job.")
    job_id: Name | None = Field(None, description="Makes the call idempotent: the same body again joins the job.")
    purpose: Literal["train", "eval"] = "train"
    pool: Name | None = Field(None, description="Which backends may serve it.")
    group_id: Name | None = None
    sample_index: int = Field(0, ge=0, description="Tells n samples of one instance apart.")
    limits: dict[str, Any] | None = None
    on_disconnect: Literal["cancel", "continue"] | None = Field(
        None, description="What a lost connection means; default: continue with a job_id, cancel without."
    )


class CancelBody(BaseModel):
    """Which job to end."""

    job_id: Name


class BackendBody(BaseModel):
    """An inference server to sample from."""

    address: str = Field(min_length=1, description="http://host:port, or the OpenAI base with /v1.")
    wire: str | None = Field(None, description="Its protocol; found out if not given.")
    weight: float | None = Field(None, gt=0, allow_inf_nan=False, description="Speed relative to the others.")
    version: int | None = Field(None, ge=0, description="Version of the weights it serves.")
    pool: Name = "default"


def described(model: type[BaseModel]) -> dict[str, Any]:
    """The OpenAPI entry of a route whose body is this model."""
    content = {"application/json": {"schema": model.model_json_schema()}}
    return {"requestBody": {"required": True, "content": content}}
