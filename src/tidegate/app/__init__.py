"""The composition root: configuration, wiring, and the processes server and mover.

The only room that knows which implementations are used, what time it is and where identities come from.
"""
