"""`tidegate schedule`.

`change` and `verification` hold the options that `create` and `update` share.
"""
