"""What a supervisor that was killed left running. Cleared before the next start, whose lock proves it is alone."""

import os
import signal
from contextlib import suppress

from portal.setup.say import say
from portal.supervisor.instance import Instance
from portal.supervisor.processes import end_group, end_leftover, marked, read_record, wait_until_gone

_PATIENCE_SECONDS = 10.0
# The database has its own way (Postgres.prepare): an immediate kill of it would only cost a recovery.
_DATABASES = ("valkey", "postgres")


def clear_leftovers(instance: Instance) -> None:
    """End children of an earlier supervisor: those on record in good order, then all that bear the mark."""
    records = sorted(instance.run.glob("*.pid"), key=lambda path: _rank(path.stem))
    ended = 0
    for path in records:
        identity = read_record(path)
        wanted = signal.SIGINT if path.stem == "postgres" else signal.SIGTERM
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
    """Agents first (their jobs are handed back), then what they talk to, databases last."""
    if name.startswith("agent"):
        return 0
    return 2 + _DATABASES.index(name) if name in _DATABASES else 1
