"""What Linux offers about files and disks and Python does not: for stores in directories and for volumes alike.

Only mechanics lives here: nothing knows of stores, volumes or backups.
"""
