"""Tidegate: backups that pass a few gates, and say why they wait.

Start reading at `docs/architecture.md`. The rooms are the sub-packages; each says what lives there and what must not.
"""

__version__ = "0.1.0"
