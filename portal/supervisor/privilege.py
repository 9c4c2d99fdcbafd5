"""PostgreSQL refuses to run as root. As root we drop to an unprivileged user for it, and only for it."""

import os
import pwd
import shutil
import subprocess
from pathlib import Path

from portal.setup.refusal import ExitCode, Refusal

_USERS = ("postgres", "nobody")
# A folder that only root may pass (a checkout under /root, a private temporary folder) needs one of these
# capabilities in the unprivileged process: to look through folders, else, where a container withholds that, to
# read and write past permissions.
_PASSES = ("dac_read_search", "dac_override")


def _identity() -> pwd.struct_passwd:
    for name in _USERS:
        try:
            return pwd.getpwnam(name)
        except KeyError:
            continue
    raise Refusal(ExitCode.SYSTEM_PACKAGE, "running as root needs a user 'postgres' or 'nobody' for the database")


def _drop(user: pwd.struct_passwd, capability: str | None) -> list[str]:
    setpriv = shutil.which("setpriv")
    if setpriv is None:
        raise Refusal(
            ExitCode.SYSTEM_PACKAGE,
            "running as root needs the program setpriv (package util-linux); or start as an ordinary user",
        )
    sets = ("bounding-set", "inh-caps", "ambient-caps")
    # The secure bit: access(2), by which PostgreSQL finds its own programs, otherwise leaves capabilities out.
    keep = ["--securebits=+no_setuid_fixup", *(f"--{name}=-all,+{capability}" for name in sets)] if capability else []
    return [setpriv, f"--reuid={user.pw_uid}", f"--regid={user.pw_gid}", "--clear-groups", *keep, "--"]


def prefix_for(program: Path, data: Path) -> list[str]:
    """What to put before a command of PostgreSQL so that it runs unprivileged and reaches both its files.

    ``data`` is the cluster's folder (or the one it will be made in) and already belongs to the right user.
    Found by trying, because mount options and containers decide it too. Empty when we are not root.
    """
    if os.geteuid() != 0:
        return []
    user = _identity()
    for capability in (None, *_PASSES):
        prefix = _drop(user, capability)
        if _reaches([*prefix, str(program), "--version"]) and _reaches([*prefix, "test", "-x", str(data)]):
            return prefix
    raise Refusal(
        ExitCode.DATA_FOLDER,
        f"user {user.pw_name} (the database) may not enter {data} or {program.parent}: "
        "choose another --data folder, or start as an ordinary user",
    )


def give(path: Path) -> None:
    """Hand a file, or a folder with all in it, to the database's user. Nothing to do when we are not root."""
    if os.geteuid() != 0:
        return
    user = _identity()
    if path.stat().st_uid == user.pw_uid:
        return
    for folder, folders, files in os.walk(path):
        for name in (*folders, *files):
            os.chown(Path(folder) / name, user.pw_uid, user.pw_gid, follow_symlinks=False)
    # Last: its owner says that all below was handed over.
    os.chown(path, user.pw_uid, user.pw_gid)


def _reaches(argv: list[str]) -> bool:
    return subprocess.run(argv, cwd="/", capture_output=True, check=False).returncode == 0
