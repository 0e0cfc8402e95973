"""The promises: one Protocol per kind of I/O, with what an implementation must keep and a caller may rely on.

No implementation lives here, and nothing here imports one. Each port has one contract suite in `tests/contracts`
that every implementation passes, the ones for tests included.
"""
