"""Backups and the files in them as tables and descriptions, the same for the API, the CLI and the page."""
