"""The decisions: an immutable snapshot in, a plan with reasons out.

Pure: no I/O, no clock, no randomness, no logging. Every function here can be tested with a table and replayed from a
bug report. Running counts are derived from the phases in the snapshot, never kept beside them.
"""
