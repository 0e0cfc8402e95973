"""Implementations of VolumeSource and VolumeSink: directories, image files and devices.

They know how to read and write a volume on this machine, and nothing of stores.
"""
