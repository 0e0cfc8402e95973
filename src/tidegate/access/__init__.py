"""Who may come in, and who did what: a small database of its own, which no list, no event and no system backup shows.

Hashes of secrets live here and nowhere else; nothing leaves this room that could open a door.
"""
