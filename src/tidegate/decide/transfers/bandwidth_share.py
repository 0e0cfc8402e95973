"""How fast one of the movers of a node may go."""


def shares(per_node: int | None, per_mover: int | None, movers: int) -> int | None:
    """Bytes per second for each of `movers` that go at once on a node; None: as fast as it can.

    All together never exceed `per_node`, whatever each of them does; so a share is rounded down, but never to nothing.
    """
    if per_node is None:
        return per_mover
    share = max(1, per_node // max(1, movers))
    return share if per_mover is None else min(share, per_mover)
