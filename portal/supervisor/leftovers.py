"""What a supervisor that was killed left running. Cleared before the next start, whose lock proves it is alone."""

import os
import signal
from contextlib import suppress

from portal.setup.say import say
from portal.supervisor.instance import Instance
from portal.supervisor.processes import end_group, end_leftover, marked, read_record, wait_until_gone

_PATIENCE_SECONDS = 10.0
# These end in good order, which spares a recovery. Everything else bears being killed at any time, and a job of a
# killed agent runs on until the next agent takes it over, while one that is asked to stop would stop its jobs.
_DATABASES = {"valkey": signal.SIGTERM, "postgres": signal.SIGINT}


def clear_leftovers(instance: Instance) -> None:
    """End children of an earlier supervisor: those on record in good order, then all that bear the mark."""
    records = sorted(instance.run.glob("*.pid"), key=lambda path: _rank(path.stem))
    ended = 0
    for path in records:
        identity = read_record(path)
        wanted = _DATABASES.get(path.stem, signal.SIGKILL)
        if identity is not None and end_leftover(identity, wanted, _PATIENCE_SECONDS):
            ended += 1
            end_group(identity.pid)
        path.unlink(missing_ok=True)
    strays = marked(instance.secret("mark"))
    for stray in strays:
        with suppress(ProcessLookupError):
            os.kill(stray.pid, signal.SIGKILL)
    wait_until_gone(strays, _PATIENCE_SECONDS)
    if ended or strays:
        say(f"stopped {ended + len(strays)} processes that an earlier start had left behind")


def _rank(name: str) -> int:
    """Databases last."""
    return 1 + list(_DATABASES).index(name) if name in _DATABASES else 0
