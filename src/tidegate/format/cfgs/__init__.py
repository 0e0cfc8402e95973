"""The small objects of a store: cfgs, locks, indexes, archives, and the keys under which all objects lie.

Read `paths`, then `backup_cfg` and `volume_cfg`.
"""
