"""``./run backup`` and ``./run restore``: database, artefacts, secrets and node identities in one file.

The database is dumped in one snapshot while the portal may go on working; files are taken after it, so that every
file a row speaks of is there.
"""

import os
import shutil
import subprocess
from pathlib import Path

from portal.setup import archive
from portal.setup.manage import database_up
from portal.setup.refusal import ExitCode, Refusal
from portal.setup.say import say
from portal.supervisor.instance import Instance
from portal.supervisor.postgres import Postgres, binary

_DUMP = "database.dump"
_SECRETS = ("secret-key", "demo-password")
"""Passwords of the embedded services are made anew: they guard one data folder, nothing in it depends on them."""


def backup(instance: Instance, target: Path) -> None:
    """Write everything that makes the instance into ``target``."""
    if not (instance.postgres / "PG_VERSION").exists():
        raise Refusal(ExitCode.BACKUP, f"there is no instance in {instance.folder}")
    dump = instance.run / _DUMP
    with database_up(instance) as postgres, archive.writing(target) as writer:
        try:
            _postgres_tool(postgres, "pg_dump", "--format=custom", f"--file={dump}", "sluice")
            writer.add(dump, _DUMP)
        finally:
            dump.unlink(missing_ok=True)
        writer.add_folder(instance.artefacts, "artefacts")
        for path in _kept_secrets(instance):
            writer.add(path, f"secrets/{path.name}")
        for path in _node_identities(instance):
            writer.add(path, f"agents/{path.relative_to(instance.agents).as_posix()}")
    say(f"backup written to {target} ({target.stat().st_size / 1e6:.1f} MB); it holds secrets, keep it safe")


def _kept_secrets(instance: Instance) -> list[Path]:
    named = [instance.secrets / name for name in _SECRETS]
    return [path for path in (*named, *sorted(instance.secrets.glob("enrolment-*"))) if path.exists()]


def _node_identities(instance: Instance) -> list[Path]:
    """What an agent on this machine is known by; its jobs' folders are scratch and stay behind."""
    return sorted(path for path in instance.agents.glob("*/*") if path.is_file() and not path.is_symlink())


def restore(instance: Instance, source: Path) -> None:
    """Make an instance from a backup in an empty data folder; a failure leaves the folder empty."""
    if instance.folder.exists() and any(instance.folder.iterdir()):
        raise Refusal(ExitCode.BACKUP, f"{instance.folder} is not empty; a restore never overwrites an instance")
    archive.verify(source)
    existed = instance.folder.exists()
    try:
        instance.prepare()
        archive.unpack(source, instance.folder)
        with database_up(instance, makes_tables=False) as postgres:
            dump = instance.folder / _DUMP
            options = ["--dbname=sluice", "--no-owner", "--exit-on-error", "--single-transaction"]
            _postgres_tool(postgres, "pg_restore", *options, str(dump))
            dump.unlink()
    except BaseException:
        _empty(instance.folder, keep=existed)
        raise
    say(f"restored into {instance.folder}; the next ./run brings the tables up to date")


def _empty(folder: Path, *, keep: bool) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    if keep:
        folder.mkdir(exist_ok=True)


def _postgres_tool(postgres: Postgres, name: str, *arguments: str) -> None:
    environment = {**os.environ, "PGPASSWORD": postgres.instance.secret("database-password")}
    argv = [str(binary(name)), *postgres.address(), "--username=sluice", "--no-password", *arguments]
    done = subprocess.run(argv, env=environment, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        lines = done.stderr.strip().splitlines() or ["no output"]
        raise Refusal(ExitCode.BACKUP, f"{name} failed: {lines[-1]}")
