"""HTTP, embedded: the socket, the server on it, and the limits on its connections."""
