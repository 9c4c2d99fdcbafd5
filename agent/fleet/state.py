"""What one node of the fleet must remember between starts: who it is, what it runs, what it ever started."""

import logging
from pathlib import Path

from msgspec import DecodeError, Struct, json

from agent.durable import write_durably
from agent.errors import AgentError
from agent.fleet.member import SimulatedMember
from agent.messages import Enrolled
from agent.runner.keys import LaunchKeys

log = logging.getLogger(__name__)


class Kept(Struct):
    members: list[SimulatedMember] = []


class NodeFiles:
    """One folder per node. A file is replaced whole or not at all."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._node = folder / "node.json"
        self._members = folder / "members.json"
        self.keys = LaunchKeys(folder / "launch_keys")

    def node(self) -> Enrolled | None:
        """Who it is; None before it enrolled. Raises AgentError when the file is damaged."""
        try:
            return json.decode(self._node.read_bytes(), type=Enrolled)
        except FileNotFoundError:
            return None
        except DecodeError as error:
            raise AgentError(f"{self._node} is damaged: {error}") from error

    def keep_node(self, enrolled: Enrolled) -> None:
        """Keep who it is, readable to the fleet's user only."""
        write_durably(self._node, json.encode(enrolled), mode=0o600)

    def members(self) -> dict[int, SimulatedMember]:
        """What it ran when it was last heard. Raises AgentError when the file is damaged."""
        try:
            kept = json.decode(self._members.read_bytes(), type=Kept)
        except FileNotFoundError:
            return {}
        except DecodeError as error:
            raise AgentError(f"{self._members} is damaged: {error}") from error
        return {member.launch.member_id: member for member in kept.members}

    def keep_members(self, members: dict[int, SimulatedMember]) -> None:
        """Keep what it runs now."""
        write_durably(self._members, json.encode(Kept(list(members.values()))))
