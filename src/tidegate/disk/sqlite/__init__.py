"""What every SQLite file of the server needs, whatever is in it: the resources, the accounts, the catalogue.

Read `connection` first, then `schema`, `readers` and `errors`; `wal` keeps the write-ahead log short, `writer_lock`
lets several processes write to one file in turns. Nothing here knows a table.
"""
