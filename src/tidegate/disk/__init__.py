"""What Linux offers about files and disks and Python does not: for stores, volumes and databases alike.

`messages` carries values between processes of one machine. Only mechanics lives here: nothing knows of stores, volumes
or backups.
"""
