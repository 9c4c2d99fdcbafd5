"""Changing the stage or the area of many projects at once: preview, all or nothing, and back within an hour."""
