"""Dated claims on capacity; grants, and the acts that change capacity."""
