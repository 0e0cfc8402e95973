"""The numbers of `/metrics`, a file for each subject.

Each is counted from stored phases when it is asked for.
"""
