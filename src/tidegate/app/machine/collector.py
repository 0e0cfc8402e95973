"""When Python looks for garbage, so that nobody waits for it.

Nothing else runs meanwhile. A full search goes through all that is loaded and all that is remembered: in a server a
tenth of a second and more, in which a free slot stays empty and a click unanswered.
"""

import gc
from collections.abc import Iterator
from contextlib import contextmanager

# The usual 700 are too few for a process that makes thousands of objects for each request.
_YOUNG = 2_000
_MIDDLE_AGED = 10
# Python itself sees to it that a full search comes only once a quarter is new; this makes it ten times as rare.
_OLD = 100


@contextmanager
def loading() -> Iterator[None]:
    """What is loaded stays to the end: to search it again and again meanwhile takes a third of the time of loading."""
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()


def search_seldom() -> None:
    """For a server, once all modules are loaded: what is here now is never searched again, the rest seldom."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(_YOUNG, _MIDDLE_AGED, _OLD)
