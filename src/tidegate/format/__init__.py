"""The bytes of the store: paths, cfg JSON, checksums, compression, lock files, packed file trees.

Pure: bytes in, values out, and back. What comes from a store is hostile until it went through here. This room knows
Longhorn's format and nothing of how bytes are moved.
"""
