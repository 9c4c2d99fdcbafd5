"""Who may reach what below the data folder."""

import os
from pathlib import Path

from portal.supervisor.instance import Instance


def _mode(path: Path) -> int:
    return path.stat().st_mode & 0o777


def test_users_of_jobs_pass_to_the_agents_and_to_nothing_else(tmp_path: Path) -> None:
    (tmp_path / "data" / "agents").mkdir(parents=True, mode=0o700)
    instance = Instance(tmp_path / "data")
    umask = os.umask(0o077)
    try:
        instance.prepare()
    finally:
        os.umask(umask)
    assert (_mode(instance.folder), _mode(instance.agents)) == (0o711, 0o711)
    for closed in (instance.secrets, instance.logs, instance.artefacts, instance.valkey, instance.folder / "beat"):
        assert _mode(closed) == 0o700, closed
    assert {_mode(path) for path in instance.secrets.iterdir()} == {0o600}
