"""How many more transfers may be prepared now."""


def prepare_slots(*, preparing: int, length: int | None) -> int | None:
    """What is left of the prepare queue; None when it is unconstrained (not set, zero or negative)."""
    if length is None or length <= 0:
        return None
    return max(0, length - preparing)
