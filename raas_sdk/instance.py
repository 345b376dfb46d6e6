"""The task instance a trainer sends: its address, its name and its untouched domain fields."""

import hashlib
from collections.abc import Mapping
from functools import cached_property
from typing import Any

import msgspec
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from raas_sdk.errors import BadInstance
from raas_sdk.json_data import json_copy

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
        payload = _plain(payload)
        source = payload.get("data_source", default_data_source)
        if source is None:
            raise BadInstance("the instance has no 'data_source'; add it or start with --default-data-source")
        instance_id = payload.get("instance_id")
        digest = _sha256(payload)
        named = _composed_id(source, payload, digest) if instance_id is None else _as_text(instance_id)
        try:
            instance = cls.model_validate({"data_source": source, "instance_id": named, "payload": payload})
        except ValidationError as error:
            raise BadInstance(_first_fault(error)) from error
        vars(instance)["digest"] = digest  # where cached_property keeps it
        return instance

    @cached_property
    def digest(self) -> str:
        """SHA-256 (hex) of the canonical JSON of the payload: sorted keys, no white space."""
        return _sha256(self.payload)

    @property
    def is_as_sent(self) -> bool:
        """Whether nobody changed the payload since it was accepted."""
        return _sha256(self.payload) == self.digest


def _plain(payload: Mapping[str, Any]) -> dict[str, Any]:
    try:
        plain: dict[str, Any] = json_copy(dict(payload))
    except ValueError as error:
        raise BadInstance(f"the instance is {error}") from error
    return plain


def _sha256(payload: Mapping[str, Any]) -> str:
    return hashlib.sha256(msgspec.json.encode(payload, order="deterministic")).hexdigest()


def _composed_id(source: object, payload: Mapping[str, Any], digest: str) -> str:
    """Name, split and index where they tell instances apart, else a digest: a split alone does not."""
    extra = payload.get("extra_info")
    extra = extra if isinstance(extra, Mapping) else {}
    parts = {key: extra[key] for key in ("name", "split", "index") if isinstance(extra.get(key), str | int)}
    if "index" in parts or "name" in parts:
        return "-".join([str(source), *(str(part) for part in parts.values())])
    return f"{source}-{digest[:16]}"


def _as_text(value: object) -> object:
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


def _first_fault(error: ValidationError) -> str:
    fault = error.errors()[0]
    field = ".".join(str(part) for part in fault["loc"])
    return f"instance field {field!r}: {fault['msg']} (got {fault['input']!r:.200})"
