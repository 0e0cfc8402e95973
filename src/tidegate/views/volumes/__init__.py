"""Namespaces and volumes as tables and descriptions, the same for the API, the CLI and the page."""
