"""A database and a broker for one run of the tests: quick, empty, and gone afterwards."""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from portal.setup.say import say
from portal.supervisor.instance import Instance
from portal.supervisor.leftovers import clear_leftovers
from portal.supervisor.services import databases
from portal.supervisor.supervisor import Supervisor

_PREFIX = "sluice-test-"


@contextmanager
def throwaway() -> Iterator[Instance]:
    """PostgreSQL and Valkey in a temporary folder. What a killed earlier run left is cleared first."""
    _clear_earlier()
    folder = Path(tempfile.mkdtemp(prefix=_PREFIX))
    instance = Instance(folder)
    instance.prepare()
    instance.require_room()
    instance.try_lock("test")
    supervisor = Supervisor(instance)
    try:
        instance.settle_ports()
        postgres, valkey, services = databases(instance, is_throwaway=True)
        supervisor.start_stage(services)
        supervisor.wait_for(
            lambda: postgres.is_ready() and valkey.is_ready(), 60, lambda: f"test databases do not start: {folder}"
        )
        postgres.ensure_database()
        yield instance
    finally:
        supervisor.stop()
        instance.unlock()
        shutil.rmtree(folder, ignore_errors=True)


def _clear_earlier() -> None:
    for folder in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        if not (folder / "run").is_dir() or folder.stat().st_uid != Path.home().stat().st_uid:
            continue
        instance = Instance(folder)
        if instance.try_lock("test"):
            say(f"removing what an earlier test run left in {folder}")
            clear_leftovers(instance)
            instance.unlock()
            shutil.rmtree(folder, ignore_errors=True)
