"""What every launcher can do."""

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Wake:
    """Which member a node should look at. Neither a secret nor a command (JOB9)."""

    node_id: int
    member_id: int


class Launcher(Protocol):
    """Brings news of a member to where it runs. At most a hint: losing it delays, and never loses a job."""

    name: str

    def wake(self, wakes: list[Wake]) -> None:
        """Tell the nodes to look now. Raises ``OSError`` or kombu's ``OperationalError`` when it cannot."""
