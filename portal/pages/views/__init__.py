"""Saved views of the table of projects: kept, shared, opened and shown as its tabs (REG3)."""
