"""What gateway and engine say to each other. Plain data only; each message names its job and attempt."""

from typing import Any

import msgspec

from raas_sdk.job import Job
from raas_sdk.result import Result

__all__ = [
    "Ack",
    "Cancel",
    "Credit",
    "Drain",
    "Heartbeat",
    "Hello",
    "JobParcel",
    "JobResult",
    "LeaseChanged",
    "LeaseGranted",
    "LeaseMove",
    "LeaseRelease",
    "LeaseRequest",
    "Message",
    "Resize",
    "ResultParcel",
    "StageChanged",
    "Submit",
    "TurnFinished",
    "decode",
    "encode",
]


BIG_INTEGER = 1


class JobParcel:
    """A job inside a message: as it is within a process, as of Job.to_wire between two."""

    __slots__ = ("job",)

    def __init__(self, job: Job) -> None:
        self.job = job


class ResultParcel:
    """A result inside a message: as it is within a process, as of Result.to_wire (binary) between two."""

    __slots__ = ("result",)

    def __init__(self, result: Result) -> None:
        self.result = result


class Submit(msgspec.Struct, frozen=True, tag="submit"):
    """Gateway → engine: run this job. `accepted_at` is on the calendar, `queue_wait` in seconds."""

    job_id: str
    attempt: int
    parcel: JobParcel
    queue_wait: float = 0.0
    accepted_at: float | None = None


class Cancel(msgspec.Struct, frozen=True, tag="cancel"):
    """Gateway → engine: end this job; its result comes as `cancelled`."""

    job_id: str


class LeaseGranted(msgspec.Struct, frozen=True, tag="lease_granted"):
    """Gateway → engine: sample here; `target` None means that no backend is usable, and `reason` says why."""

    job_id: str
    attempt: int
    target: dict[str, Any] | None
    reason: str = ""


class LeaseChanged(msgspec.Struct, frozen=True, tag="lease_changed"):
    """Gateway → engine: sample there from the next turn on."""

    job_id: str
    target: dict[str, Any]


class Resize(msgspec.Struct, frozen=True, tag="resize"):
    """Gateway → engine: new sizes of stage pools."""

    sizes: dict[str, int]


class Drain(msgspec.Struct, frozen=True, tag="drain"):
    """Gateway → engine: ask for no more jobs (`on`), or go on asking."""

    on: bool


class Ack(msgspec.Struct, frozen=True, tag="ack"):
    """Gateway → engine: the result has arrived and may be forgotten."""

    job_id: str


class Hello(msgspec.Struct, frozen=True, tag="hello"):
    """Engine → gateway: who I am and which plugins could not start (plugin → reason)."""

    engine: str
    unavailable: dict[str, str]


class Credit(msgspec.Struct, frozen=True, tag="credit"):
    """Engine → gateway: send me that many more jobs."""

    count: int


class StageChanged(msgspec.Struct, frozen=True, tag="stage"):
    """Engine → gateway: the job is now in `stage` (waiting or holding a permit); `seconds` of the one that ended."""

    job_id: str
    attempt: int
    stage: str
    state: str
    seconds: float | None = None


class LeaseRequest(msgspec.Struct, frozen=True, tag="lease_request"):
    """Engine → gateway: this job is ready to sample."""

    job_id: str
    attempt: int
    pool: str


class LeaseMove(msgspec.Struct, frozen=True, tag="lease_move"):
    """Engine → gateway: the job's backend gives no answer (`fault`); another of the same version, please."""

    job_id: str
    attempt: int
    fault: str


class LeaseRelease(msgspec.Struct, frozen=True, tag="lease_release"):
    """Engine → gateway: this job samples no more."""

    job_id: str
    attempt: int


class TurnFinished(msgspec.Struct, frozen=True, tag="turn"):
    """Engine → gateway: a turn was sampled; no tokens, only its figures."""

    job_id: str
    attempt: int
    index: int
    n_tokens: int
    finish_reason: str
    text: str
    policy_version: int | None = None


class JobResult(msgspec.Struct, frozen=True, tag="result"):
    """Engine → gateway: the whole record, once."""

    job_id: str
    attempt: int
    parcel: ResultParcel


class Heartbeat(msgspec.Struct, frozen=True, tag="heartbeat"):
    """Engine → gateway: alive; `loop_lag` in seconds."""

    loop_lag: float


Message = (
    Submit
    | Cancel
    | LeaseGranted
    | LeaseChanged
    | Resize
    | Drain
    | Ack
    | Hello
    | Credit
    | StageChanged
    | LeaseRequest
    | LeaseMove
    | LeaseRelease
    | TurnFinished
    | JobResult
    | Heartbeat
)


def encode(message: Message) -> bytes:
    """A message as msgpack."""
    try:
        return msgspec.msgpack.encode(message, enc_hook=_packed)
    except OverflowError:
        plain = msgspec.to_builtins(message, builtin_types=(bytes, bytearray, memoryview), enc_hook=_packed)
        return msgspec.msgpack.encode(_with_big_integers(plain))


def decode(data: bytes) -> Message:
    """The inverse of `encode`; raise msgspec.ValidationError for anything else."""
    return msgspec.msgpack.decode(data, type=Message, ext_hook=_big_integer, dec_hook=_unpacked)


def _packed(parcel: Any) -> dict[str, Any]:
    if isinstance(parcel, JobParcel):
        return parcel.job.to_wire()
    if isinstance(parcel, ResultParcel):
        return parcel.result.to_wire(binary=True)
    raise TypeError(f"a message holds plain data and parcels, not {type(parcel).__name__}")


def _unpacked(kind: type, row: Any) -> JobParcel | ResultParcel:
    return JobParcel(Job.from_wire(row)) if kind is JobParcel else ResultParcel(Result.from_wire(row))


def _with_big_integers(value: Any) -> Any:
    """JSON has integers of any size, msgpack none beyond 64 bits: those travel as text in an extension."""
    if isinstance(value, dict):
        return {key: _with_big_integers(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_with_big_integers(item) for item in value]
    is_big = isinstance(value, int) and not -(2**63) <= value < 2**64
    return msgspec.msgpack.Ext(BIG_INTEGER, str(value).encode()) if is_big else value


def _big_integer(code: int, data: memoryview) -> int:
    if code != BIG_INTEGER:
        raise msgspec.ValidationError(f"unknown msgpack extension {code!r}")
    return int(data.tobytes())
