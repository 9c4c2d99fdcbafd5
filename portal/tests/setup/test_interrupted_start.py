"""A first start that is killed while nodes enrol: the next one in the same folder ends what it began."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from portal.tests.setup.instances import READY, START_SECONDS, Running, eventually

pytestmark = [pytest.mark.fault, pytest.mark.timeout(300)]


@pytest.fixture
def running(tmp_path: Path) -> Iterator[Running]:
    running = Running(tmp_path / "data", options=())
    yield running
    if running.process is not None and running.process.poll() is None:
        running.end(signal.SIGTERM)


def has_node(running: Running, name: str) -> bool:
    """Whether the portal has taken this node in."""
    try:
        with running.database() as connection:
            return bool(connection.execute("SELECT 1 FROM inventory_node WHERE name = %s", (name,)).fetchall())
    except (OSError, psycopg.Error):
        return False


def test_a_start_killed_while_nodes_enrol_is_made_good_by_the_next(running: Running) -> None:
    running.begin()
    eventually(lambda: has_node(running, "local-1") and has_node(running, "h800-001"), START_SECONDS)
    assert running.process is not None
    running.process.kill()
    running.process.wait()
    for identity in running.processes():
        os.kill(identity.pid, signal.SIGKILL)
    eventually(lambda: running.processes() == [])
    # The tokens are used. What the nodes were about to write down is lost with them.
    instance = running.instance
    for folder in (instance.agents / "local-1", instance.fleet / "nodes" / "h800-001"):
        (folder / "node.json").unlink(missing_ok=True)
    assert READY.fullmatch(running.start()), running.notes()
    assert instance.has_node("local-1")
    assert instance.has_fleet()
    with running.database() as connection:
        twice = connection.execute("SELECT name FROM inventory_node GROUP BY name HAVING count(*) > 1").fetchall()
    assert twice == []
