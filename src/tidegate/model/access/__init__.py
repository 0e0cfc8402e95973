"""Roles, tokens, users and the audit. Nothing here holds a password, a token or a hash."""
