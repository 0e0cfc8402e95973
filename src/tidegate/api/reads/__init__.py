"""Everything that an answer is put together from: pages, the queue, the load, the catalogue, progress.

Read `presenting` and `one_look` first. Nothing here writes.
"""
