"""Transfers, nodes and the load as tables and descriptions, the same for the API, the CLI and the page."""
