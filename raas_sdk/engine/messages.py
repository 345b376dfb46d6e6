"""What gateway and engine say to each other. Plain data only; each message names its job and attempt.

`serial` tells jobs of the same name apart: what comes late from a job that was cancelled never meets its successor.
"""

from typing import Any

import msgspec

from raas_sdk.job import Job
from raas_sdk.result import Result

__all__ = [
    "Ack",
    "BackendFailed",
    "Cancel",
    "Credit",
    "Drain",
    "Heartbeat",
    "Hello",
    "JobGone",
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
    """Gateway → engine: end this job; its result comes as `cancelled`, at once."""

    job_id: str
    serial: int = 0


class LeaseGranted(msgspec.Struct, frozen=True, tag="lease_granted"):
    """Gateway → engine: sample here; `target` None means that no backend is usable, and `reason` says why."""

    job_id: str
    attempt: int
    target: dict[str, Any] | None
    reason: str = ""
    serial: int = 0


class LeaseChanged(msgspec.Struct, frozen=True, tag="lease_changed"):
    """Gateway → engine: sample there from the next turn on."""

    job_id: str
    attempt: int
    target: dict[str, Any]
    serial: int = 0


class Resize(msgspec.Struct, frozen=True, tag="resize"):
    """Gateway → engine: new sizes of stage pools."""

    sizes: dict[str, int]


class Drain(msgspec.Struct, frozen=True, tag="drain"):
    """Gateway → engine: ask for no more jobs (`on`), or go on asking."""

    on: bool


class Ack(msgspec.Struct, frozen=True, tag="ack"):
    """Gateway → engine: the result has arrived and may be forgotten."""

    job_id: str
    serial: int = 0


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
    serial: int = 0


class LeaseRequest(msgspec.Struct, frozen=True, tag="lease_request"):
    """Engine → gateway: this job is ready to sample."""

    job_id: str
    attempt: int
    pool: str
    serial: int = 0


class BackendFailed(msgspec.Struct, frozen=True, tag="backend_failed"):
    """Engine → gateway: the job's backend, in that epoch, gave no reply however often it was asked."""

    job_id: str
    attempt: int
    backend_id: str
    epoch: int
    fault: str
    serial: int = 0


class LeaseMove(msgspec.Struct, frozen=True, tag="lease_move"):
    """Engine → gateway: another backend of the same version than this one, please; the job waits, in its turn."""

    job_id: str
    attempt: int
    backend_id: str
    epoch: int
    serial: int = 0


class LeaseRelease(msgspec.Struct, frozen=True, tag="lease_release"):
    """Engine → gateway: this job samples no more."""

    job_id: str
    attempt: int
    serial: int = 0


class TurnFinished(msgspec.Struct, frozen=True, tag="turn"):
    """Engine → gateway: a turn was sampled; no tokens, only its figures.

    `seconds` is what the reply took, None where it took more than one try.
    """

    job_id: str
    attempt: int
    index: int
    n_tokens: int
    finish_reason: str
    text: str
    policy_version: int | None = None
    backend_id: str | None = None
    seconds: float | None = None
    serial: int = 0


class JobResult(msgspec.Struct, frozen=True, tag="result"):
    """Engine → gateway: the whole record, once.

    `cleaning`: what the job holds is still being taken back; JobGone says when that is over.
    """

    job_id: str
    attempt: int
    parcel: ResultParcel
    cleaning: bool = False
    serial: int = 0


class JobGone(msgspec.Struct, frozen=True, tag="gone"):
    """Engine → gateway: a job that was answered before it had ended holds nothing any more."""

    job_id: str
    attempt: int
    serial: int = 0


class Heartbeat(msgspec.Struct, frozen=True, tag="heartbeat"):
    """Engine → gateway: alive. `loop_lag`: the longest its loop stood still since the last one, in seconds.

    `blocked_by` names the hook that ran when it stood still for long; `left_behind` counts hooks that ignore
    their cancel and still run.
    """

    loop_lag: float
    blocked_by: str | None = None
    left_behind: int = 0


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
    | BackendFailed
    | LeaseMove
    | LeaseRelease
    | TurnFinished
    | JobResult
    | JobGone
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
