"""Brings the database of an instance up to date before anything uses it."""

import os
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass

from portal.setup.places import PYTHON, ROOT
from portal.setup.refusal import ExitCode, Refusal
from portal.setup.say import say
from portal.supervisor import services
from portal.supervisor.instance import Instance
from portal.supervisor.supervisor import Supervisor

_SECONDS = 600
_FLEET_SECONDS = 120


@dataclass(frozen=True, slots=True)
class Options:
    """What the caller of ``./run`` chose."""

    port: int
    is_empty: bool
    opens_browser: bool


def prepare_database(supervisor: Supervisor, instance: Instance, options: Options) -> None:
    """Migrations, demo organisation and the tokens of this machine's nodes, in one process of Django."""
    say("bringing the database up to date")
    environment = {**instance.environment(), **instance.mark()}
    argv = [str(PYTHON), "manage.py", "prepare_instance"]
    for agent in services.AGENTS:
        if not instance.has_node(agent.name):
            argv += ["--enrol", agent.name, agent.pool, str(instance.enrolment_token(agent.name))]
    environment["SLUICE_DEMO_PASSWORD"] = _demo_password(instance)
    if not options.is_empty:
        argv += ["--demo", "--fleet-spec", str(instance.fleet_spec), "--fleet-home", str(instance.fleet)]
    _run(supervisor, instance, argv, environment)


def is_new(instance: Instance) -> bool:
    """Whether a node of this machine, or of the simulated fleet, has yet to enrol."""
    return not (all(instance.has_node(agent.name) for agent in services.AGENTS) and instance.has_fleet())


def seed_again(supervisor: Supervisor, instance: Instance) -> None:
    """After the first nodes have enrolled: what the demo organisation could not be granted before."""
    supervisor.wait_for(instance.has_fleet, _FLEET_SECONDS, lambda: f"the fleet does not enrol (logs: {instance.logs})")
    argv = [str(PYTHON), "manage.py", "seed_demo"]
    _run(supervisor, instance, argv, {**instance.environment(), **instance.mark()})


def _demo_password(instance: Instance) -> str:
    """Of the demo accounts, or of the first admin of an instance without them."""
    chosen = os.environ.get("SLUICE_DEMO_PASSWORD")
    return instance.replace_secret("demo-password", chosen) if chosen else instance.new_demo_password()


def _run(supervisor: Supervisor, instance: Instance, argv: Sequence[str], environment: dict[str, str]) -> None:
    path = instance.logs / "prepare.log"
    with path.open("wb") as log:
        work = subprocess.Popen(
            argv,
            cwd=ROOT,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
        try:
            supervisor.wait_for(lambda: work.poll() is not None, _SECONDS, lambda: f"the update hangs (log: {path})")
        finally:
            work.kill()
            work.wait()
    if work.returncode != 0:
        lines = path.read_text(errors="replace").strip().splitlines() or ["no output"]
        raise Refusal(ExitCode.SERVICE, f"the database was not brought up to date: {lines[-1]} (log: {path})")
