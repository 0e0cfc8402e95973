"""Logs on standard error: for people on a terminal, as JSON lines elsewhere or when asked."""

import contextlib
import logging
import sys
from typing import TextIO, cast

import structlog

_SHARED: list[structlog.typing.Processor] = [
    structlog.contextvars.merge_contextvars,
    structlog.processors.add_log_level,
    structlog.processors.TimeStamper(fmt="iso", utc=True),
]


class _Unbreakable:
    """Standard error whose reader may go away: a log that nobody reads must not stop a server that works."""

    def write(self, text: str) -> int:
        """Write, or lose the line."""
        with contextlib.suppress(OSError, ValueError):
            sys.stderr.write(text)
        return len(text)

    def flush(self) -> None:
        """Flush, or leave it."""
        with contextlib.suppress(OSError, ValueError):
            sys.stderr.flush()


def configure_logs(*, form: str, level: str) -> None:
    """Set up structlog and send the standard library's loggers (uvicorn's) the same way."""
    stream = cast("TextIO", _Unbreakable())
    number = logging.getLevelNamesMapping()[level.upper()]
    as_json = form == "json" or (form == "auto" and not sys.stderr.isatty())
    renderer: structlog.typing.Processor = (
        structlog.processors.JSONRenderer() if as_json else structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty())
    )
    # JSON needs a traceback as text; the console renderer draws it itself.
    tracebacks: list[structlog.typing.Processor] = [structlog.processors.format_exc_info] if as_json else []
    structlog.configure(
        processors=[*_SHARED, *tracebacks, renderer],
        wrapper_class=structlog.make_filtering_bound_logger(number),
        logger_factory=structlog.PrintLoggerFactory(stream),
    )
    formatter = structlog.stdlib.ProcessorFormatter(
        foreign_pre_chain=_SHARED,
        processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, *tracebacks, renderer],
    )
    handler = logging.StreamHandler(stream)
    handler.setFormatter(formatter)
    logging.basicConfig(handlers=[handler], level=max(number, logging.WARNING), force=True)
