"""Log records as single lines: time, level, logger, event, then the fields as key=value."""

import logging

__all__ = ["LineFormatter", "configure_logging"]

STANDARD = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "color_message", "taskName"}


class LineFormatter(logging.Formatter):
    """Fields are shown by repr, so that no value can split a line."""

    def __init__(self) -> None:
        super().__init__("%(asctime)s %(levelname)-7s %(name)s: %(message)s")

    def formatMessage(self, record: logging.LogRecord) -> str:
        """The line."""
        extra = {key: value for key, value in vars(record).items() if key not in STANDARD}
        fields = "".join(f" {key}={value!r:.500}" for key, value in extra.items())
        return super().formatMessage(record).replace("\n", "\\n") + fields


def configure_logging(level: str) -> None:
    """Send the log to stderr; what servers and clients say of themselves only from warnings on."""
    handler = logging.StreamHandler()
    handler.setFormatter(LineFormatter())
    logging.basicConfig(level=level.upper(), handlers=[handler], force=True)
    for noisy in ("uvicorn", "asyncio", "aiohttp"):
        logging.getLogger(noisy).setLevel(logging.WARNING)
