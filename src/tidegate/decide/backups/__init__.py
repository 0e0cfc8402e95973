"""One backup after the queue has let it go: its item blocks, its hooks, how long it keeps its slot, how it ends.

Read `item_blocks`, then `block_steps`; `interruption` is about a backup that another server began. Which backup may
start is decided in `decide.queue`.
"""
