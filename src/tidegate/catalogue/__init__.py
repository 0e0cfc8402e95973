"""The local, rebuildable index of what all targets hold: nothing lives here yet."""
