"""``python -m agent``: see docs/agent.md."""

import logging
import os
import signal
import sys

from agent.daemon import Agent
from agent.errors import AgentError
from agent.home import Home
from agent.settings import parse


def main(arguments: list[str]) -> int:
    """Run the agent; returns the process's exit status."""
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    for name in ("httpx", "httpcore", "celery", "kombu"):
        logging.getLogger(name).setLevel(logging.WARNING)
    try:
        settings = parse(arguments)
        home = Home(settings.home)
        home.open()
        agent = Agent(settings, home)
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda _number, _frame: agent.leave())
        agent.run()
    except AgentError as error:
        sys.stderr.write(f"agent: {error}\n")
        return error.exit_status
    return 0


if __name__ == "__main__":
    status = main(sys.argv[1:])
    sys.stderr.flush()
    # Threads that wait for the network or the broker hold nothing that must be saved.
    os._exit(status)
