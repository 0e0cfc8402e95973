"""Blocks: their checksums, compression and encryption, and the map that says which block lies where.

Read `checksum` and `block_codec`. `_sha512_lanes.c` hashes eight at once where a compiler was at hand.
"""
