"""`tidegate demo`: a story of about a minute, on a server and in a directory of its own. Leaves nothing behind."""

from tidegate.app.demo.story import run_demo

__all__ = ["run_demo"]
