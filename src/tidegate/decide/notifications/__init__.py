"""What is news, which rule wants it, and when a delivery that failed is tried again.

Nothing here knows how a message leaves the server.
"""
