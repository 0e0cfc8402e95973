"""The reconcilers, one file each: observe, decide, apply; and the runtime that drives them.

A reconciler never calls another one, never keeps state that is not stored, and writes only what differs. A stale
version means look again. Deciding belongs in `decide/`.
"""
