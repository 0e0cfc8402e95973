"""Notification rules, and the deliveries that are on their way to their receivers."""
