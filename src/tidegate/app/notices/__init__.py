"""How a notification leaves the server: webhooks, and apprise where it is installed."""
