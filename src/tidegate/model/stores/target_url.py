"""Which stores are directories of this machine, by the scheme of their URL."""

# Longhorn says vfs, everybody else says file.
DIRECTORY_SCHEMES = ("file", "vfs")
SHARE_SCHEMES = ("nfs", "cifs")
# Below it the server and its movers mount shares.
MOUNTS = "/run/tidegate/mounts"
