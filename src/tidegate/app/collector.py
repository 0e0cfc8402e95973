"""When Python looks for garbage in the server, so that nobody waits for it.

Nothing else runs meanwhile. A full search goes through all that is loaded and all that is remembered: a tenth of a
second and more, in which a free slot stays empty and a click unanswered.
"""

import gc

# The usual 700 are too few for a process that makes thousands of objects for each request.
_YOUNG = 2_000
_MIDDLE_AGED = 10
# Python itself sees to it that a full search comes only once a quarter is new; this makes it ten times as rare.
_OLD = 100


def search_seldom() -> None:
    """Called once all modules are loaded: what is here now stays to the end and is never searched again."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(_YOUNG, _MIDDLE_AGED, _OLD)
