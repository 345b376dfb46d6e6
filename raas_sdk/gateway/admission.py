"""From a request body to a job: every check that can be made before anything starts."""

import hashlib
import random
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import msgspec

from raas_sdk.errors import BadRequest, BadSampling
from raas_sdk.instance import Instance
from raas_sdk.job import Job, Purpose
from raas_sdk.json_data import json_copy
from raas_sdk.limits import Limits
from raas_sdk.sampling import Sampling
from raas_sdk.settings import Settings

__all__ = ["Submission", "admit"]

FIELDS = (
    "instance",
    "sampling_params",
    "job_id",
    "purpose",
    "pool",
    "group_id",
    "sample_index",
    "limits",
    "on_disconnect",
)
KNOWN = frozenset(FIELDS)
MAX_ID_CHARS = 256
PURPOSES = tuple(purpose.value for purpose in Purpose)


@dataclass(frozen=True, slots=True)
class Submission:
    """A job with what the service must remember of its request. `named`: the client chose the job_id."""

    job: Job
    body_digest: str
    named: bool


def admit(body: object, settings: Settings) -> Submission:
    """Read a request body; raise BadRequest (BadInstance, BadSampling) that names the field."""
    if not isinstance(body, Mapping):
        raise BadRequest(f"the body must be a JSON object, not {type(body).__name__}")
    unknown = [] if body.keys() <= KNOWN else sorted(set(body) - KNOWN)
    if unknown:
        raise BadRequest(f"unknown field {unknown[0]!r}; known: {', '.join(FIELDS)}")
    instance = Instance.parse(body.get("instance"), default_data_source=settings.default_data_source)
    params = _object(body, "sampling_params")
    limits = settings.job_limits().overridden(params).overridden(_own_limits(body))
    job = Job(
        job_id=_job_id(body.get("job_id")),
        instance=instance,
        sampling=_seeded(Sampling.parse(params, also_known=Limits.names())),
        limits=limits,
        purpose=_purpose(body.get("purpose", "train")),
        pool=_text(body, "pool", "default"),
        group_id=_text(body, "group_id", None),
        sample_index=_index(body.get("sample_index", 0)),
    )
    return Submission(job, _digest(instance, params, body), body.get("job_id") is not None)


def _object(body: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    value = body.get(name)
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise BadSampling(f"{name!r} must be a JSON object, got {type(value).__name__}")
    try:
        plain: dict[str, Any] = json_copy(dict(value))
    except ValueError as error:
        raise BadSampling(f"{name!r} is {error}") from error
    return plain


def _own_limits(body: Mapping[str, Any]) -> Mapping[str, Any]:
    values = _object(body, "limits")
    if not values:
        return values
    unknown = sorted(set(values) - Limits.names())
    if unknown:
        raise BadSampling(f"unknown limit {unknown[0]!r}; known: {', '.join(sorted(Limits.names()))}")
    return values


def _seeded(sampling: Sampling) -> Sampling:
    """Mint a seed where none was given, so that it is recorded."""
    return sampling if sampling.seed is not None else sampling.seeded(random.getrandbits(31))


def _job_id(value: object) -> str:
    if value is None:
        return secrets.token_hex(16)
    return _name("job_id", value)


def _name(field: str, value: object) -> str:
    if not isinstance(value, str) or not 0 < len(value) <= MAX_ID_CHARS or not value.isprintable():
        raise BadRequest(f"{field!r} must be 1 to {MAX_ID_CHARS} printable characters, got {value!r:.80}")
    return value


def _purpose(value: object) -> Purpose:
    if value not in PURPOSES:
        raise BadRequest(f"'purpose' must be one of {[*PURPOSES]}, got {value!r:.80}")
    return Purpose(str(value))


def _text(body: Mapping[str, Any], name: str, default: str | None) -> Any:
    value = body.get(name, default)
    if value is None:
        return default
    return _name(name, value)


def _index(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 2**31:
        raise BadRequest(f"'sample_index' must be a whole number from 0, got {value!r:.80}")
    return value


def _digest(instance: Instance, params: Mapping[str, Any], body: Mapping[str, Any]) -> str:
    rest = {name: body.get(name) for name in ("purpose", "pool", "group_id", "sample_index", "limits")}
    canonical = msgspec.json.encode([instance.digest, params, rest], order="deterministic")
    return hashlib.sha256(canonical).hexdigest()
