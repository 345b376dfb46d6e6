"""How an inference server is addressed: one spelling for the forms that trainers register."""

from urllib.parse import SplitResult, urlsplit

from raas_sdk.errors import BadRequest

__all__ = ["normalise_address"]


def normalise_address(address: str) -> str:
    """Return `scheme://host[:port][/prefix]`; a trailing `/v1` or slash goes. Raise BadRequest for anything else."""
    try:
        parts = urlsplit(address.strip())
        port = parts.port
    except (ValueError, AttributeError) as error:
        raise BadRequest(f"backend address {address!r} cannot be read: {error}") from error
    fault = _fault(parts)
    if fault:
        raise BadRequest(f"backend address {address!r} {fault}; write it like 'http://host:8000'")
    host = f"[{parts.hostname}]" if ":" in str(parts.hostname) else parts.hostname
    prefix = parts.path.rstrip("/").removesuffix("/v1").rstrip("/")
    return f"{parts.scheme}://{host}{'' if port is None else f':{port}'}{prefix}"


def _fault(parts: SplitResult) -> str | None:
    if parts.scheme not in ("http", "https"):
        return "does not start with http:// or https://"
    if not parts.hostname or any(letter.isspace() for letter in parts.netloc + parts.path):
        return "names no host"
    if parts.username is not None or parts.password is not None:
        return "holds a user name or password, which would be logged"
    if parts.query or parts.fragment:
        return "has a query or fragment"
    return None
