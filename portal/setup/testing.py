"""``./run test``: the tests against a database and a broker of their own, which end with them."""

import os
import shutil
import signal
import subprocess
from collections.abc import Sequence

from portal.setup.install import run_step
from portal.setup.places import PYTHON, ROOT
from portal.setup.refusal import ExitCode, Refusal
from portal.setup.say import say
from portal.supervisor.instance import Instance
from portal.supervisor.throwaway import throwaway

CHROMIUM_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
_NOTHING_COLLECTED = 5
_PARALLEL = ["-n", "2", "--dist", "loadfile", "-m", "not browser and not fault"]
_SERIAL = ["-m", "browser or fault"]
_FAST = ["-n", "2", "--dist", "loadfile", "-m", "not browser and not fault and not slow", "--hypothesis-profile=fast"]


def run_tests(arguments: Sequence[str]) -> int:
    """All tests, or one pytest run with the given arguments. Returns pytest's exit code, the first that is not 0."""
    if arguments:
        return _pytest([list(arguments)])
    ensure_chromium()
    return _pytest([_PARALLEL, _SERIAL])


def run_fast_tests() -> int:
    """What needs neither a browser nor a process to be killed, and does not take long; properties with few examples."""
    return _pytest([_FAST])


def _pytest(runs: Sequence[Sequence[str]]) -> int:
    code = 0
    with throwaway() as instance:
        environment = {**test_environment(instance), **_chromium_environment()}
        for run in runs:
            code = code or _one([str(PYTHON), "-m", "pytest", *run], environment)
    return code


def test_environment(instance: Instance) -> dict[str, str]:
    """The instance's environment with the settings for tests."""
    return {
        **instance.environment(),
        "DJANGO_SETTINGS_MODULE": "portal.settings.test",
        "DJANGO_ALLOW_ASYNC_UNSAFE": "1",
    }


def _one(argv: Sequence[str], environment: dict[str, str]) -> int:
    """A Ctrl-C is pytest's; we wait for its report and then stop the services."""
    previous = signal.signal(signal.SIGINT, signal.SIG_IGN)
    work = subprocess.Popen(argv, cwd=ROOT, env=environment)
    try:
        code = work.wait()
    finally:
        if work.poll() is None:
            work.terminate()
            work.wait()
        signal.signal(signal.SIGINT, previous)
    return code if code >= 0 else 128 - code


def chromium() -> str | None:
    """The browser for the browser tests: ``SLUICE_CHROMIUM``, else one on the PATH."""
    chosen = os.environ.get("SLUICE_CHROMIUM")
    found = (shutil.which(name) for name in CHROMIUM_NAMES)
    return chosen or next((path for path in found if path), None)


def _chromium_environment() -> dict[str, str]:
    path = chromium()
    return {"SLUICE_CHROMIUM": path} if path else {}


def ensure_chromium() -> None:
    """Browser tests are part of the tests: without a browser they fail here, with what to do about it."""
    if chromium():
        return
    if os.geteuid() == 0 and shutil.which("apt-get"):
        say("installing Chromium for the browser tests")
        environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
        run_step("reading the package lists", ["apt-get", "update", "-q"], environment)
        run_step("installing Chromium", ["apt-get", "install", "-y", "-q", "chromium"], environment)
    if not chromium():
        raise Refusal(
            ExitCode.SYSTEM_PACKAGE,
            "the browser tests need Chromium: install it (Debian: apt install chromium) or name it in SLUICE_CHROMIUM",
        )
