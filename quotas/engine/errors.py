"""Why a solve ends without an exact plan."""


class OutOfTime(Exception):
    """The caller's time is up; a greedy plan can still be made."""


class Unsolved(Exception):
    """The linear programme has no optimum by its solver's word: a fault of numbers, never of the instance."""
