"""The task instance a trainer sends: its address, its name and its untouched domain fields."""

import hashlib
from collections.abc import Mapping
from typing import Any

import msgspec
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from raas_sdk.errors import BadInstance

__all__ = ["Instance"]


class Instance(BaseModel):
    """One task. `payload` is the JSON object as it came; plugins read their fields from there."""

    model_config = ConfigDict(frozen=True)

    data_source: str = Field(min_length=1, max_length=200)
    instance_id: str = Field(min_length=1, max_length=500)
    payload: Mapping[str, Any]

    @classmethod
    def parse(cls, payload: object, *, default_data_source: str | None = None) -> "Instance":
        """Read a JSON object; raise BadInstance that names the field at fault."""
        if not isinstance(payload, Mapping):
            raise BadInstance(f"an instance must be a JSON object, not {type(payload).__name__}")
        source = payload.get("data_source", default_data_source)
        if source is None:
            raise BadInstance("the instance has no 'data_source'; add it or start with --default-data-source")
        instance_id = payload.get("instance_id")
        named = _composed_id(source, payload) if instance_id is None else instance_id
        try:
            return cls.model_validate({"data_source": source, "instance_id": _as_text(named), "payload": payload})
        except ValidationError as error:
            raise BadInstance(_first_fault(error)) from error

    @property
    def digest(self) -> str:
        """SHA-256 (hex) of the canonical JSON of the payload: sorted keys, no white space."""
        canonical = msgspec.json.encode(self.payload, order="deterministic")
        return hashlib.sha256(canonical).hexdigest()


def _composed_id(source: object, payload: Mapping[str, Any]) -> str:
    extra = payload.get("extra_info")
    extra = extra if isinstance(extra, Mapping) else {}
    parts = [extra.get(key) for key in ("name", "split", "index")]
    known = [str(part) for part in parts if part is not None]
    if known:
        return "-".join([str(source), *known])
    canonical = msgspec.json.encode(payload, order="deterministic")
    return f"{source}-{hashlib.sha256(canonical).hexdigest()[:16]}"


def _as_text(value: object) -> object:
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


def _first_fault(error: ValidationError) -> str:
    fault = error.errors()[0]
    field = ".".join(str(part) for part in fault["loc"])
    return f"instance field {field!r}: {fault['msg']} (got {fault['input']!r:.200})"
