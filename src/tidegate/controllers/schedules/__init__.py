"""Makes the backups of schedules when they are due, and removes old ones by retention."""
