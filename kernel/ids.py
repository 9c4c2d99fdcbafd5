"""Ids of rows as they arrive in addresses, files and forms: as text that anybody may have typed."""

MAX_DIGITS = 18
"""What a ``bigint`` holds in any case; more is no id of ours, and would be an error of the database."""
NO_ROW = 0
"""An id that no row has, for a query that takes what ``id_in`` found."""


def id_in(text: str) -> int | None:
    """The id that this text writes, or None where it writes none."""
    return int(text) if text.isascii() and text.isdigit() and len(text) <= MAX_DIGITS else None
