"""Which of the places where a job fits is best for what comes after it: see docs/placement.md."""

from scheduling.engine.preference.choosing import Preference
from scheduling.engine.preference.mix import Mix

__all__ = ["Mix", "Preference"]
