"""Image files and block devices: read with their holes left out, restored beside or in place.

Read `image`, then `sink` and `device_sink`.
"""
