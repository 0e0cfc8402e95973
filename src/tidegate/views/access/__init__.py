"""Tokens, users and the audit as tables and descriptions, the same for the API, the CLI and the page."""
