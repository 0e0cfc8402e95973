"""Resources in SQLite. Not there yet."""
