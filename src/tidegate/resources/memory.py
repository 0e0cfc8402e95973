"""Resources in memory. Not there yet."""
