"""What a call of the service can fail with."""

from raas_sdk.errors import RaasError

__all__ = ["CallRefused", "ServiceUnreachable"]


class ServiceUnreachable(RaasError):
    """No answer came in all tries."""

    raas_kind = "infra"
    code = "service_unreachable"
    retryable = True


class CallRefused(RaasError):
    """The service answered an error: its HTTP status, its code for the reason, its Retry-After."""

    def __init__(self, message: str, *, status: int, code: str, retry_after: str | None = None) -> None:
        super().__init__(message, code=code, retryable=status in (429, 503))
        self.status = status
        self.retry_after = retry_after
