"""What a window of a grant or a request may be."""

from datetime import timedelta

LATE = timedelta(minutes=1)
"""How long after its start it may still arrive: a form is filled in, a clock is a little off."""
