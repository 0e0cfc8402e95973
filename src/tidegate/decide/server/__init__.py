"""What the server as a whole is decided by: its configuration, and the figures of a scrape."""
