"""When a schedule makes its next backup, and which of its backups it keeps.

Read `due`, then `retention`.
"""
