"""Namespaces, the volumes in them, and how safe each volume is."""
