"""Schedules: their cron times in a time zone, and how many backups they keep."""
