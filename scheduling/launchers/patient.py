"""Nodes without a broker: nothing wakes them, their next sync says what to start and what to stop."""

from scheduling.launchers.base import Wake


class PatientLauncher:
    name = "patient"

    def wake(self, wakes: list[Wake]) -> None:
        """Nobody would read the messages, and unread ones would pile up in the broker."""
