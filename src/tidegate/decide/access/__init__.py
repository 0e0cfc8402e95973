"""Who may call the server and what they may do: roles, login limit, host names, proxies, connections.

Read `roles` first. Nothing here knows a password, a token or a socket.
"""
