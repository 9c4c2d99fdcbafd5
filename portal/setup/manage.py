"""``./run manage``: Django's command line against an instance, with its database up for as long as it takes."""

import signal
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from portal.setup.front import unused_services
from portal.setup.places import PYTHON, ROOT
from portal.setup.say import say
from portal.supervisor.instance import Instance
from portal.supervisor.leftovers import clear_leftovers
from portal.supervisor.postgres import Postgres
from portal.supervisor.services import database_service
from portal.supervisor.supervisor import Supervisor

FILE_COMMANDS = frozenset({"solve_allocation", "audit_plan", "schedule_scenario", "replay", "update_catalogue"})
"""They read and write files only; no data folder is touched for them."""

_DATABASE_SECONDS = 60


def manage(instance: Instance, arguments: Sequence[str]) -> int:
    """Run one command and return its exit code. Its output is its own; ours goes to standard error."""
    if arguments and arguments[0] in FILE_COMMANDS:
        return _run(arguments, unused_services())
    with database_up(instance):
        return _run(arguments, instance.environment())


@contextmanager
def database_up(instance: Instance, *, makes_tables: bool = True) -> Iterator[Postgres]:
    """The database answers inside; it is stopped afterwards if it was down before."""
    instance.prepare()
    owns = instance.try_lock("manage")
    if not owns and instance.owner() == "manage":
        say("waiting for another ./run manage on this data folder")
        instance.wait_for_lock("manage")
        owns = True
    if owns:
        with _own_database(instance, makes_tables=makes_tables) as postgres:
            yield postgres
        return
    postgres = Postgres(instance)
    Supervisor(instance).wait_for(
        postgres.is_ready, _DATABASE_SECONDS, lambda: f"the database of the running instance {instance.folder} is down"
    )
    yield postgres


@contextmanager
def _own_database(instance: Instance, *, makes_tables: bool) -> Iterator[Postgres]:
    supervisor = Supervisor(instance)
    try:
        clear_leftovers(instance)
        instance.require_room()
        instance.settle_ports()
        postgres = Postgres(instance)
        postgres.prepare()
        supervisor.start_stage([database_service(postgres)])
        supervisor.wait_for(
            postgres.is_ready, _DATABASE_SECONDS, lambda: f"the database does not answer (log: {instance.logs})"
        )
        if postgres.ensure_database() and makes_tables:
            _migrate(instance)
        yield postgres
    finally:
        supervisor.stop()
        instance.unlock()


def _migrate(instance: Instance) -> None:
    """A database that was made just now gets its tables, so that any command finds them."""
    say("making the tables")
    argv = [str(PYTHON), "manage.py", "migrate", "--noinput", "--verbosity", "0"]
    done = subprocess.run(argv, cwd=ROOT, env=instance.environment(), capture_output=True, text=True, check=False)
    if done.returncode != 0:
        # The command may be the one that mends it (makemigrations), so it is not refused.
        lines = done.stderr.strip().splitlines() or ["no output"]
        say(f"the tables could not be made: {lines[-1]}")


def _run(arguments: Sequence[str], environment: dict[str, str]) -> int:
    """In the foreground, on the caller's terminal: a Ctrl-C is the command's, and we tidy up after it."""
    previous = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        return _wait(subprocess.Popen([str(PYTHON), str(ROOT / "manage.py"), *arguments], env=environment))
    finally:
        signal.signal(signal.SIGINT, previous)


def _wait(command: subprocess.Popen[bytes]) -> int:
    def pass_on(number: int, _frame: object) -> None:
        command.send_signal(number)

    previous = signal.signal(signal.SIGTERM, pass_on)
    try:
        code = command.wait()
    finally:
        signal.signal(signal.SIGTERM, previous)
    return code if code >= 0 else 128 - code
