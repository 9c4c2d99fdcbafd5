"""``python -m agent.fleet --home DIR --portal URL --spec FILE``: see docs/demo.md."""

import argparse
import asyncio
import logging
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

from agent.errors import AgentError
from agent.fleet.client import FleetPortal
from agent.fleet.node import FleetNode, play
from agent.fleet.spec import FleetSpec, read_spec
from agent.fleet.state import NodeFiles
from agent.home import Home

LAST_WORDS_S = 8.0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m agent.fleet", description="Many simulated nodes.")
    parser.add_argument("--home", type=Path, required=True, help="folder of the fleet: what its nodes remember")
    parser.add_argument("--portal", required=True, help="address of the portal, http:// or https://")
    parser.add_argument("--spec", type=Path, required=True, help="JSON file with the nodes and their one-time tokens")
    return parser


async def run(home: Path, portal_url: str, spec: FleetSpec) -> None:
    """Play every node until SIGTERM or SIGINT."""
    leaving = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, leaving.set)
    portal = FleetPortal(portal_url)
    nodes = [FleetNode(node, NodeFiles(home / "nodes" / node.name), portal) for node in spec.nodes]
    try:
        async with asyncio.TaskGroup() as group:
            for place, node in enumerate(nodes):
                group.create_task(play(node, leaving, place / len(nodes)))
        async with asyncio.timeout(LAST_WORDS_S):
            await asyncio.gather(*(node.leave() for node in nodes))
    except TimeoutError:
        logging.getLogger(__name__).warning("last words were cut short")
    finally:
        await portal.close()


def main(arguments: Sequence[str]) -> int:
    """Run the fleet; returns the process's exit status."""
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    for name in ("httpx", "httpcore"):
        logging.getLogger(name).setLevel(logging.WARNING)
    options = _parser().parse_args(arguments)
    home = Home(options.home)
    try:
        spec = read_spec(options.spec)
        home.open()
        asyncio.run(run(options.home, options.portal, spec))
    except AgentError as error:
        sys.stderr.write(f"fleet: {error}\n")
        return error.exit_status
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
