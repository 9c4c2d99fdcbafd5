"""One instance: its data folder, secrets, ports, lock, and the environment that its processes get."""

import fcntl
import json
import os
import secrets
import socket
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from portal.setup.install import clean_environment
from portal.setup.refusal import ExitCode, Refusal
from portal.supervisor.processes import MARK

HOST = "127.0.0.1"
SECRETS = ("secret-key", "database-password", "database-owner-password", "broker-password")
_OF_THE_INSTANCE = (
    "DJANGO_",
    "SLUICE_DATA",
    "SLUICE_BROKER_URL",
    "SLUICE_CACHE_URL",
    "SLUICE_REDIS_PASSWORD",
    "SLUICE_SECRET_KEY",
    "SLUICE_BASE_URL",
    "SLUICE_ALLOWED_HOSTS",
    "SLUICE_INSTANCE_MARK",
)
_FIRST_TIME_BYTES = 300_000_000
_LATER_BYTES = 100_000_000


@dataclass(frozen=True, slots=True)
class Ports:
    """Where the embedded services of this instance listen, on 127.0.0.1 only."""

    database: int
    broker: int


class Instance:
    """A data folder, made on first use. Nothing here starts a process."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.secrets = folder / "secrets"
        self.run = folder / "run"
        self.logs = folder / "logs"
        self.artefacts = folder / "artefacts"
        self.postgres = folder / "postgres"
        self.valkey = folder / "valkey"
        self.agents = folder / "agents"
        self.fleet = folder / "fleet"
        self.fleet_spec = self.secrets / "fleet.json"
        self._lock: IO[str] | None = None

    def prepare(self) -> None:
        """Make the folders and secrets that are missing."""
        try:
            # The unprivileged user of the database may pass through, and sees nothing on its way.
            self.folder.mkdir(parents=True, exist_ok=True)
            self.folder.chmod(0o711)
            for part in (self.secrets, self.logs, self.artefacts, self.valkey, self.folder / "beat"):
                part.mkdir(mode=0o700, exist_ok=True)
            # So may the users that jobs run as: each has its own folder below, as the agent's home says.
            self.agents.mkdir(exist_ok=True)
            self.agents.chmod(0o711)
            self.run.mkdir(mode=0o711, exist_ok=True)
            for name in SECRETS:
                self.keep_secret(name, secrets.token_urlsafe(32))
            self.keep_secret("mark", secrets.token_hex(16))
            (self.folder / "version").write_text("1\n")
        except OSError as error:
            raise Refusal(
                ExitCode.DATA_FOLDER, f"the data folder {self.folder} cannot be used: {error.strerror}"
            ) from error

    def require_room(self) -> None:
        """A database that runs out of disk stops; refuse before it starts."""
        least = _LATER_BYTES if self.postgres.exists() else _FIRST_TIME_BYTES
        facts = os.statvfs(self.folder)
        free = facts.f_bavail * facts.f_frsize
        if free < least:
            raise Refusal(
                ExitCode.NO_ROOM, f"{self.folder} has {free // 10**6} MB free, {least // 10**6} MB are needed"
            )

    def keep_secret(self, name: str, value: str) -> str:
        """The stored secret of this name; ``value`` becomes it where there is none."""
        path = self.secrets / name
        if not path.exists() or not path.read_text().strip():
            fresh = path.with_suffix(".new")
            with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as handle:
                handle.write(value)
            fresh.replace(path)
        return path.read_text().strip()

    def replace_secret(self, name: str, value: str) -> str:
        """Store this value from now on."""
        (self.secrets / name).unlink(missing_ok=True)
        return self.keep_secret(name, value)

    def new_demo_password(self) -> str:
        """The demo accounts' password: random at the first start, then the same."""
        return self.keep_secret("demo-password", secrets.token_urlsafe(9))

    def secret(self, name: str) -> str:
        """A stored secret."""
        return (self.secrets / name).read_text().strip()

    # One owner at a time runs the databases: ``./run``, or one ``./run manage`` while ``./run`` is not up.

    def try_lock(self, owner: str) -> bool:
        """Become the owner; False if another process is. The kernel frees the lock when its holder dies."""
        handle = (self.run / "owner").open("a+")
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            handle.close()
            return False
        self._take(handle, owner)
        return True

    def wait_for_lock(self, owner: str) -> None:
        """Become the owner as soon as the present one has gone."""
        handle = (self.run / "owner").open("a+")
        fcntl.flock(handle, fcntl.LOCK_EX)
        self._take(handle, owner)

    def _take(self, handle: IO[str], owner: str) -> None:
        handle.truncate(0)
        handle.write(owner)
        handle.flush()
        self._lock = handle

    def owner(self) -> str:
        """What the present or last owner called itself: ``run`` or ``manage``."""
        return (self.run / "owner").read_text().strip()

    def unlock(self) -> None:
        """Stop being the owner."""
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    def ports(self) -> Ports:
        """The ports in use or last used; chosen anew where there are none."""
        path = self.run / "ports.json"
        try:
            kept = json.loads(path.read_text())
            return Ports(database=int(kept["database"]), broker=int(kept["broker"]))
        except (FileNotFoundError, ValueError, KeyError):
            return self._keep(Ports(database=free_port(), broker=free_port()))

    def settle_ports(self) -> Ports:
        """Before the services start: keep the ports of last time where they are still free."""
        kept = self.ports()
        return self._keep(
            Ports(
                database=kept.database if is_free(kept.database) else free_port(),
                broker=kept.broker if is_free(kept.broker) else free_port(),
            )
        )

    def _keep(self, ports: Ports) -> Ports:
        fresh = self.run / "ports.new"
        fresh.write_text(json.dumps({"database": ports.database, "broker": ports.broker}))
        fresh.replace(self.run / "ports.json")
        return ports

    def web_port(self) -> int:
        """The web port of the running instance, or of the last run."""
        try:
            return int((self.run / "web-port").read_text())
        except (FileNotFoundError, ValueError):
            return 8000

    def keep_web_port(self, port: int) -> None:
        """Remember the web port for ``./run manage``."""
        (self.run / "web-port").write_text(str(port))

    def environment(self) -> dict[str, str]:
        """What Django needs to work on this instance. Secrets go as file names, so no process list shows one."""
        ports = self.ports()
        return {
            **_inherited(),
            "DJANGO_SETTINGS_MODULE": "portal.settings.local",
            "SLUICE_DATA": str(self.folder),
            "SLUICE_DATABASE_URL": f"postgres://sluice@{HOST}:{ports.database}/sluice",
            "SLUICE_DATABASE_PASSWORD_FILE": str(self.secrets / "database-password"),
            "SLUICE_BROKER_URL": f"redis://{HOST}:{ports.broker}/0",
            "SLUICE_CACHE_URL": f"redis://{HOST}:{ports.broker}/1",
            "SLUICE_REDIS_PASSWORD_FILE": str(self.secrets / "broker-password"),
            "SLUICE_SECRET_KEY_FILE": str(self.secrets / "secret-key"),
            "SLUICE_BASE_URL": f"http://{HOST}:{self.web_port()}",
            "PYTHONUNBUFFERED": "1",
        }

    def mark(self) -> dict[str, str]:
        """What every child of this instance carries in its environment, so that a leftover is found."""
        return {MARK: self.secret("mark")}

    def child_environment(self) -> dict[str, str]:
        """The environment of a supervised child of ours: as above, and marked."""
        return {**self.environment(), **self.mark()}

    def broker_url(self) -> str:
        """The broker with its password, for the environment of an agent; never for a command line."""
        return f"redis://:{self.secret('broker-password')}@{HOST}:{self.ports().broker}/0"

    def has_node(self, name: str) -> bool:
        """Whether this machine's agent of that name has enrolled; until then it needs a one-time token."""
        return (self.agents / name / "node.json").exists()

    def has_fleet(self) -> bool:
        """Whether every node of the demo's fleet has enrolled. Before its file is written none has."""
        try:
            nodes = json.loads(self.fleet_spec.read_text())["nodes"]
        except FileNotFoundError:
            return False
        return all((self.fleet / "nodes" / node["name"] / "node.json").exists() for node in nodes)

    def enrolment_token(self, node: str) -> Path:
        """Where the one-time token of a node on this machine is kept until its agent has used it."""
        return self.secrets / f"enrolment-{node}"


def _inherited() -> dict[str, str]:
    """The caller's environment without settings that belong to another instance."""
    return {key: value for key, value in clean_environment().items() if not key.startswith(_OF_THE_INSTANCE)}


def free_port() -> int:
    """A port that nobody uses now."""
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        return int(probe.getsockname()[1])


def is_free(port: int) -> bool:
    """Whether we could listen on this port now."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError:
            return False
    return True
