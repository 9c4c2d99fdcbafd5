"""How many examples a property is tried with: all in ``./run test``, a tenth in ``./run check --fast``."""

from hypothesis import settings

USUAL = 100
"""What hypothesis tries where a test names no number; the profile ``fast`` (conftest.py) tries a tenth."""


def examples(full: int) -> int:
    """``full``, or as large a part of it as the profile in force tries of the usual number; never less than two."""
    return max(2, full * settings().max_examples // USUAL)
