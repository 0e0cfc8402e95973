"""Where identities come from."""

import uuid


def new_id() -> str:
    """A random identity."""
    return str(uuid.uuid4())
