"""The virtual environment with hashed requirements. Bears being interrupted and being started twice."""

import fcntl
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

from portal.setup.places import PYTHON, ROOT, VENV, digest, is_current
from portal.setup.refusal import ExitCode, Refusal
from portal.setup.say import say

FIRST_TIME_BYTES = 1_500_000_000
LOG = ROOT / ".setup.log"
_NETWORK_SIGNS = (
    "temporary failure in name resolution",
    "name or service not known",
    "failed to establish a new connection",
    "connection refused",
    "network is unreachable",
    "dns error",
    "error sending request",
    "failed to fetch",
    "connecttimeout",
    "could not connect",
    "getaddrinfo",
    "enotfound",
    "econnrefused",
    "eai_again",
    "etimedout",
)


@contextmanager
def only_one_setup() -> Iterator[None]:
    """Wait while another process sets up the same checkout. The kernel frees the lock of a dead one."""
    try:
        handle = (ROOT / ".setup.lock").open("w")
    except OSError as error:
        raise Refusal(ExitCode.SETUP, f"cannot write into {ROOT}: {error.strerror}") from error
    with handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say("waiting for another set-up of this checkout")
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def run_step(what: str, argv: Sequence[str], environment: dict[str, str] | None = None) -> None:
    """Run one step of the set-up with its output in the log; a failure becomes one clear line."""
    with LOG.open("a") as log:
        log.write(f"\n$ {' '.join(argv)}\n")
        log.flush()
        start = log.tell()
        done = subprocess.run(
            argv, cwd=ROOT, env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log, check=False
        )
    if done.returncode == 0:
        return
    with LOG.open("rb") as log_read:
        log_read.seek(start)
        output = log_read.read().decode(errors="replace")
    raise _reason(what, output)


def _reason(what: str, output: str) -> Refusal:
    lowered = output.lower()
    if "no space left on device" in lowered or "enospc" in lowered:
        return Refusal(ExitCode.NO_ROOM, f"{what}: no room left on the disk")
    if any(sign in lowered for sign in _NETWORK_SIGNS):
        return Refusal(ExitCode.NO_NETWORK, f"{what}: the package index does not answer (details: {LOG})")
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    return Refusal(ExitCode.SETUP, f"{what} failed: {lines[-1] if lines else 'no output'} (details: {LOG})")


def require_room(folder: Path, least: int) -> None:
    """Refuse early instead of failing half-way."""
    free = shutil.disk_usage(folder).free
    if free < least:
        raise Refusal(ExitCode.NO_ROOM, f"{folder} has {free / 1e9:.1f} GB free, {least / 1e9:.1f} GB are needed")


def ensure_requirements(name: str) -> None:
    """Install ``requirements-{name}.txt`` into the virtual environment unless just that is installed."""
    locked = ROOT / f"requirements-{name}.txt"
    fingerprint = digest([locked.read_bytes(), sys.version.encode()])
    stamp = VENV / f".sluice-{name}"
    if _venv_works() and is_current(stamp, fingerprint):
        return
    LOG.write_text("")
    _ensure_venv()
    say(f"installing {locked.name} (a few minutes the first time)")
    stamp.unlink(missing_ok=True)
    run_step("installing Python packages", [*_installer(), "--require-hashes", "-r", str(locked)])
    stamp.write_text(fingerprint)


def _installer() -> list[str]:
    uv = shutil.which("uv")
    if uv:
        return [uv, "pip", "install", "--quiet", "--python", str(PYTHON)]
    return [str(PYTHON), "-m", "pip", "install", "--quiet", "--no-input", "--disable-pip-version-check"]


def _venv_works() -> bool:
    """Whether there is an environment of this Python's version that starts, with what installs into it."""
    if not (VENV / "pyvenv.cfg").is_file() or not PYTHON.exists():
        return False
    probe = "import sys; print(*sys.version_info[:2])" + ("" if shutil.which("uv") else "; import pip")
    done = subprocess.run([str(PYTHON), "-c", probe], capture_output=True, text=True, check=False)
    return done.returncode == 0 and done.stdout.split() == [str(part) for part in sys.version_info[:2]]


def _ensure_venv() -> None:
    if _venv_works():
        return
    require_room(ROOT, FIRST_TIME_BYTES)
    if VENV.exists():
        _remove_broken_venv()
    say("making the virtual environment .venv")
    uv = shutil.which("uv")
    if uv:
        run_step("making .venv", [uv, "venv", "--quiet", "--python", sys.executable, str(VENV)])
        return
    if find_spec("ensurepip") is None:
        version = f"{sys.version_info[0]}.{sys.version_info[1]}"
        raise Refusal(
            ExitCode.SYSTEM_PACKAGE,
            f"this Python lacks ensurepip: install the system package python{version}-venv "
            f"(Debian: apt install python{version}-venv) or put uv on the PATH",
        )
    run_step("making .venv", [sys.executable, "-m", "venv", str(VENV)])


def _remove_broken_venv() -> None:
    """Delete what an interrupted or older set-up left; never a folder that is something else."""
    if VENV.is_symlink() or (any(VENV.iterdir()) and not (VENV / "bin").is_dir()):
        raise Refusal(ExitCode.SETUP, f"{VENV} is not a virtual environment of ours; move it away")
    shutil.rmtree(VENV)


def clean_environment() -> dict[str, str]:
    """The caller's environment without what would point Python elsewhere."""
    return {key: value for key, value in os.environ.items() if key not in ("PYTHONPATH", "PYTHONHOME")}
