"""What clients made for Longhorn expect: its field names, bodies, actions and schemas.

Read `manners`, then `shapes`. Nothing here reads or writes the store.
"""
