"""What a call of the service can fail with."""

from raas_sdk.errors import RaasError

__all__ = ["CallRefused", "ServiceUnreachable"]


class ServiceUnreachable(RaasError):
    """No answer came in all tries."""

    raas_kind = "infra"
    code = "service_unreachable"
    retryable = True


class CallRefused(RaasError):
    """The service answered an error; `status` is its HTTP status, `code` its word for the reason, `retry_after` when to come again."""

    def __init__(self, message: str, *, status: int, code: str, retry_after: str | None = None) -> None:
        super().__init__(message, code=code, retryable=status in (429, 503))
        self.status = status
        self.retry_after = retry_after
