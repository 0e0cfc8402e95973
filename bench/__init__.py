"""Numbers that can be repeated: `python -m bench [name ...]`."""
