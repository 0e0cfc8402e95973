"""`python -m tidegate` is the same as `tidegate`."""

from tidegate.app.main import main

main()
