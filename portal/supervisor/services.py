"""The services of a whole instance on one machine, in the order in which they start."""

import os
import signal
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, replace

from portal.setup.places import PYTHON
from portal.supervisor.children import Service
from portal.supervisor.instance import HOST, Instance
from portal.supervisor.postgres import Postgres
from portal.supervisor.valkey import Valkey

WEB_WORKERS = 2
DISPATCH_THREADS = 8
# Streams end with their page; a reader that stays must not hold up the stop.
_STREAM_SECONDS = 5
_NVML_SECONDS = 20


@dataclass(frozen=True, slots=True)
class Agent:
    """A node agent on this machine. An empty ``simulate`` means this machine's own GPUs."""

    name: str
    pool: str
    simulate: str


AGENTS = (Agent("local-1", "shared", "h100:8"), Agent("local-2", "shared", "a100:8"))


def databases(instance: Instance, *, is_throwaway: bool = False) -> tuple[Postgres, Valkey, list[Service]]:
    """PostgreSQL and Valkey, made ready to start. The owner's lock is held."""
    postgres = Postgres(instance, is_throwaway=is_throwaway)
    valkey = Valkey(instance, is_throwaway=is_throwaway)
    postgres.prepare()
    valkey.prepare()
    return postgres, valkey, [database_service(postgres), _broker_service(valkey)]


def database_service(postgres: Postgres) -> Service:
    """PostgreSQL. SIGINT is its fast shutdown: clients are cut off, what is committed is kept."""
    return Service(
        name="postgres",
        argv=postgres.argv(),
        environment={**_bare(), **postgres.instance.mark()},
        stop_signal=signal.SIGINT,
        stop_seconds=60.0,
        before_start=postgres.clear_stale_lock,
    )


def _broker_service(valkey: Valkey) -> Service:
    return Service(name="valkey", argv=valkey.argv(), environment={**_bare(), **valkey.instance.mark()})


def _bare() -> dict[str, str]:
    """What any program may need of the caller's environment."""
    return {key: os.environ[key] for key in ("PATH", "HOME", "LANG", "LC_ALL", "TZ", "TMPDIR") if key in os.environ}


def web(instance: Instance, port: int) -> Service:
    """The web processes. Each request has a thread of its own, so connections are pooled."""
    options = [
        *("--host", HOST, "--port", str(port), "--workers", str(WEB_WORKERS)),
        *("--timeout-graceful-shutdown", str(_STREAM_SECONDS), "--no-server-header", "--no-access-log"),
        # No proxy is in front. Believed from this machine, the header would give everybody on it any address, for
        # the count of failed sign-ins and for the audit log.
        "--no-proxy-headers",
    ]
    return Service(
        name="web",
        argv=[str(PYTHON), "-m", "uvicorn", "portal.asgi:application", *options],
        environment={**instance.child_environment(), "SLUICE_DATABASE_POOL": "8"},
    )


def workers(instance: Instance) -> list[Service]:
    """One process per queue kind: solving is CPU, dispatch waits for others."""
    return [
        _worker(instance, "solver", ["--pool", "prefork", "--concurrency", "1"]),
        _worker(instance, "dispatch", ["--pool", "threads", "--concurrency", str(DISPATCH_THREADS)]),
    ]


def _worker(instance: Instance, queue: str, options: Sequence[str]) -> Service:
    command = ["worker", "--queues", queue, "--hostname", f"{queue}@%h", "--loglevel", "INFO"]
    return Service(
        name=f"worker-{queue}",
        argv=_celery([*command, *options, "--without-mingle", "--without-gossip"]),
        environment=instance.child_environment(),
    )


def beat(instance: Instance) -> Service:
    """The clock of periodic tasks. Its file remembers the last runs, so a missed night is caught up once."""
    state = instance.folder / "beat"
    options = ["--schedule", str(state / "schedule"), "--pidfile", "", "--loglevel", "INFO"]
    return Service(name="beat", argv=_celery(["beat", *options]), environment=instance.child_environment())


def _celery(arguments: Sequence[str]) -> list[str]:
    return [str(PYTHON), "-m", "celery", "-A", "portal", *arguments]


def agents(instance: Instance, port: int) -> list[Service]:
    """The node agents of this machine. Its GPUs, if there are any, belong to the first; the others simulate."""
    first, *others = AGENTS
    if has_gpus():
        first = replace(first, simulate="")
    return [_agent(instance, port, agent) for agent in (first, *others)]


def fleet(instance: Instance, port: int) -> Service:
    """The simulated nodes of the demo organisation, all in one process. Like an agent it knows the portal only."""
    options = ["--home", str(instance.fleet), "--portal", f"http://{HOST}:{port}", "--spec", str(instance.fleet_spec)]
    return Service(
        name="fleet",
        argv=[str(PYTHON), "-m", "agent.fleet", *options],
        environment={**_bare(), **instance.mark(), "PYTHONUNBUFFERED": "1"},
        stop_seconds=20.0,
    )


def has_gpus() -> bool:
    """Whether NVML finds a device. Asked in a process of its own: NVML must not live in a parent of others."""
    ask = "import pynvml; pynvml.nvmlInit(); raise SystemExit(pynvml.nvmlDeviceGetCount() == 0)"
    try:
        done = subprocess.run([str(PYTHON), "-c", ask], capture_output=True, check=False, timeout=_NVML_SECONDS)
    except subprocess.TimeoutExpired:
        return False
    return done.returncode == 0


def _agent(instance: Instance, port: int, agent: Agent) -> Service:
    home = instance.agents / agent.name
    # Nothing of the portal's own: a node knows the portal's address, the broker, and its one-time token.
    environment = {
        **_bare(),
        **instance.mark(),
        "PYTHONUNBUFFERED": "1",
        "SLUICE_AGENT_HOME": str(home),
        "SLUICE_PORTAL_URL": f"http://{HOST}:{port}",
        "SLUICE_BROKER_URL": instance.broker_url(),
        "SLUICE_ENROLMENT_TOKEN_FILE": str(instance.enrolment_token(agent.name)),
        "SLUICE_SIMULATE": agent.simulate,
    }
    return Service(
        name=f"agent-{agent.name}",
        argv=[str(PYTHON), "-m", "agent", "--stop-jobs-on-exit"],
        environment=environment,
        stop_seconds=40.0,
    )
