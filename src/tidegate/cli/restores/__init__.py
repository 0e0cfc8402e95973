"""`tidegate restore`.

`request` builds the object that `create` and `plan` send.
"""
