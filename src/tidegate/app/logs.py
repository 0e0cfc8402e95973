"""Logs on standard error: for people on a terminal, as JSON lines elsewhere or when asked."""

import contextlib
import logging
import sys
from dataclasses import dataclass
from typing import TextIO, cast

import structlog

_SHARED: list[structlog.typing.Processor] = [
    structlog.contextvars.merge_contextvars,
    structlog.processors.add_log_level,
    structlog.processors.TimeStamper(fmt="iso", utc=True),
]

_WINDOW_SECONDS = 60
_LINES_PER_WINDOW = 5
# More kinds of lines than the program has: a line whose text holds an address does not fill the memory.
_MOST_SORTS = 256


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


class LimitedRate(logging.Filter):
    """Let the same line through five times a minute; the next one that comes through says how many did not.

    Strangers cause lines of the standard library's loggers as often as they like: a refused connection, bytes that
    are no HTTP. Lines of the server's own work do not pass here.
    """

    def __init__(self) -> None:
        super().__init__()
        self._windows: dict[tuple[object, ...], _Window] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether this line is written."""
        key = _sort_of(record)
        window = self._windows.get(key)
        if window is None or record.created - window.began >= _WINDOW_SECONDS:
            if len(self._windows) >= _MOST_SORTS:
                self._windows.clear()
            left_out = 0 if window is None else window.lines - _LINES_PER_WINDOW
            window = self._windows[key] = _Window(record.created)
            if left_out > 0:
                record.msg = f"{record.msg} ({left_out} lines like this one were left out)"
        window.lines += 1
        return window.lines <= _LINES_PER_WINDOW


@dataclass
class _Window:
    began: float
    lines: int = 0


def _sort_of(record: logging.LogRecord) -> tuple[object, ...]:
    """What makes two lines the same: who says it, the words, and where the error was raised."""
    error = record.exc_info[1] if record.exc_info else None
    traceback = error.__traceback__ if error else None
    while traceback and traceback.tb_next:
        traceback = traceback.tb_next
    return (record.name, record.msg, type(error), traceback and (traceback.tb_frame.f_code, traceback.tb_lineno))


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
    handler.addFilter(LimitedRate())
    logging.basicConfig(handlers=[handler], level=max(number, logging.WARNING), force=True)
