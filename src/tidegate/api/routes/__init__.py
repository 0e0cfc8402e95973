"""The routes under `/v1`, a file for each noun, and the probes and metrics beside them.

Read `resources` first: it serves every kind. A route parses, asks `admission` or `reads`, and answers; it decides
nothing.
"""
