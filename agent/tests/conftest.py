"""Portal and agent for the integration tests."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from agent.tests.agent_process import AgentProcess
from agent.tests.portal_server import PortalServer, running_portal


@pytest.fixture
def portal() -> Iterator[PortalServer]:
    """A portal of the tests' own."""
    with running_portal() as server:
        yield server


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that other users may pass through; pytest's own are closed to them."""
    with tempfile.TemporaryDirectory(prefix="sluice-agent-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        folder.chmod(0o755)
        yield folder


@pytest.fixture
def agent(portal: PortalServer, open_folder: Path) -> Iterator[AgentProcess]:
    """An agent that the test starts, with two simulated devices."""
    process = AgentProcess(portal, open_folder)
    yield process
    process.clean_up()
