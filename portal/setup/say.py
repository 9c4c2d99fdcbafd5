"""Progress for the person at the terminal: standard error, short. Standard output belongs to results."""

import sys


def say(text: str) -> None:
    """One line of progress."""
    sys.stderr.write(f"sluice: {text}\n")
    sys.stderr.flush()


def result(text: str) -> None:
    """One line that a program may wait for."""
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()
