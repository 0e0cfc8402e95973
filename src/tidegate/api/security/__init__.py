"""Who is asking, and whether they may: tokens, sessions, limits, and the audit of each request.

Read `auth` first, then `sessions` and `trail`.
"""
