"""Every error the SDK raises, as one tree.

    RaasError
    ├── SettingsInvalid            a flag, variable or file that cannot be used
    ├── BadRequest                 what a caller sent cannot be used; nothing was started
    │   ├── BadInstance            the task instance is malformed
    │   ├── BadSampling            a sampling parameter is unknown or out of range
    │   └── UnknownSource          no plugin serves this data source
    ├── NotNow                     the service cannot take it at present
    │   ├── NotStarted             it is stopped
    │   ├── QueueFull              too much is waiting; `retry_after` says when to come again
    │   └── JobConflict            the job_id is taken by a job with another body
    ├── NewPluginRefused           a new plugin cannot be written
    │   ├── NameRefused            its name is malformed or taken
    │   └── FolderRefused          its folder exists already or cannot be made
    ├── PluginRefused              a plugin that must not be loaded, and why
    ├── PluginUnavailable          its start-up failed: its routes answer 503
    ├── PluginFault                the plugin broke its contract while a job ran
    ├── GraderFault                a grading call died, hung or raised
    ├── WorkspaceFault             a sandbox could not be opened or was lost
    ├── BackendFault               an inference server failed the call
    │   ├── NoBackend              none is registered
    │   ├── BackendUnreachable     connect error, 5xx or 429 until the budget was spent
    │   ├── BackendRefused         it answered 4xx: another try would not help
    │   └── BackendContract        it answered what cannot be trained on
    ├── LimitReached               turns, tokens, context or time are used up: the plugin should hand in
    └── StageTimeout               a stage's hard budget is over

The classifier reads three attributes, which any exception may carry: `raas_kind` ("infra", "task" or
"model"), `code` (a stable word) and `retryable` (whether a fresh attempt may help).
"""

from typing import ClassVar

__all__ = [
    "BackendContract",
    "BackendFault",
    "BackendRefused",
    "BackendUnreachable",
    "BadInstance",
    "BadRequest",
    "BadSampling",
    "FolderRefused",
    "GraderFault",
    "JobConflict",
    "LimitReached",
    "NameRefused",
    "NewPluginRefused",
    "NoBackend",
    "NotNow",
    "NotStarted",
    "PluginFault",
    "PluginRefused",
    "PluginUnavailable",
    "QueueFull",
    "RaasError",
    "SettingsInvalid",
    "StageTimeout",
    "UnknownSource",
    "WorkspaceFault",
]


class RaasError(Exception):
    """The base of all errors raised by the SDK."""

    raas_kind: ClassVar[str] = "task"
    code: str = "error"
    retryable: bool = False

    def __init__(self, message: str, *, code: str | None = None, retryable: bool | None = None) -> None:
        super().__init__(message)
        if code is not None:
            self.code = code
        if retryable is not None:
            self.retryable = retryable


class SettingsInvalid(RaasError):
    """A flag, an environment variable or a settings file cannot be used."""

    raas_kind = "infra"
    code = "settings_invalid"


class BadRequest(RaasError):
    """What the caller sent cannot be used; nothing was started."""

    code = "bad_request"


class BadInstance(BadRequest):
    """The task instance is malformed."""

    code = "bad_instance"


class BadSampling(BadRequest):
    """A sampling parameter is unknown or out of range."""

    code = "bad_sampling"


class UnknownSource(BadRequest):
    """No plugin serves this data source."""

    code = "unknown_source"


class NotNow(RaasError):
    """The service cannot take the request at present."""

    code = "not_now"


class NotStarted(NotNow):
    """The service is stopped: POST /start first."""

    code = "not_started"


class QueueFull(NotNow):
    """Too many jobs wait; try again after `retry_after` seconds."""

    code = "queue_full"

    def __init__(self, message: str, *, retry_after: int) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class JobConflict(NotNow):
    """The job_id belongs to a job with another body."""

    code = "job_conflict"


class NewPluginRefused(RaasError):
    """A new plugin cannot be written."""

    code = "new_plugin_refused"


class NameRefused(NewPluginRefused):
    """The name of a new plugin is malformed, or something installed has it."""

    code = "name_refused"


class FolderRefused(NewPluginRefused):
    """The folder of a new plugin exists already, or cannot be made or written."""

    code = "folder_refused"


class PluginRefused(RaasError):
    """A plugin must not be loaded; the message says why."""

    code = "plugin_refused"


class PluginUnavailable(RaasError):
    """The plugin's start-up failed, so its routes answer 503."""

    code = "plugin_unavailable"


class PluginFault(RaasError):
    """The plugin broke its contract while a job ran."""

    code = "plugin_fault"


class GraderFault(RaasError):
    """A grading call died, hung or raised."""

    code = "grader_fault"


class WorkspaceFault(RaasError):
    """A sandbox could not be opened or was lost."""

    raas_kind = "infra"
    code = "workspace_fault"
    retryable = True


class BackendFault(RaasError):
    """An inference server failed the call."""

    raas_kind = "infra"
    code = "backend"
    retryable = True


class NoBackend(BackendFault):
    """No backend is registered for the pool."""

    code = "no_backend"


class BackendUnreachable(BackendFault):
    """Connect errors, 5xx or 429 until `tries` were used up; the engine then waits for another backend, twice."""

    code = "backend_unreachable"
    retryable = False

    def __init__(self, message: str, *, tries: int = 1) -> None:
        super().__init__(message)
        self.tries = tries


class BackendRefused(BackendFault):
    """The backend answered 4xx: another try would not help."""

    code = "backend_refused"
    retryable = False


class BackendContract(BackendFault):
    """The backend answered what cannot be trained on."""

    code = "backend_contract"


class LimitReached(RaasError):
    """A limit of the rollout is reached; `reason` is turns, tokens, context or time."""

    raas_kind = "model"
    code = "limit_reached"

    def __init__(self, reason: str) -> None:
        super().__init__(f"the rollout reached its limit of {reason}", code=f"limit_{reason}")
        self.reason = reason


class StageTimeout(RaasError):
    """The hard budget of a stage, or of the whole job, is over."""

    raas_kind = "timeout"
    code = "timeout"

    def __init__(self, stage: str, budget_seconds: float) -> None:
        super().__init__(f"stage {stage!r} was stopped: its budget of {budget_seconds:g} s is used up")
        self.stage = stage
        self.budget_seconds = budget_seconds
