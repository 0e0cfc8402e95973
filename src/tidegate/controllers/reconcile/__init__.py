"""What every reconciler is built from: its contract, its work queue, its back-off, and how it reads the store.

Read `reconciler` first, then `observation`. Nothing here knows a kind.
"""
