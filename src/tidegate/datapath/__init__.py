"""The way of the bytes: upload, download, remove, locks. Runs inside movers, in threads.

Knows the order of writes that keeps a store consistent (blocks, then the backup's cfg, then volume.cfg). Uses ports
only; never chooses a store or a kind of volume itself.
"""
