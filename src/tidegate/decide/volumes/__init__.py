"""Which volumes a request is about, and how safe each of them is.

Read `selection` and `matching`, then `last_backup` and `protection`.
"""
