"""``./run lint``: every checker runs, whatever the others say; one summary at the end."""

import os
import subprocess
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from portal.setup.front import unused_services
from portal.setup.places import PYTHON, ROOT, VENV
from portal.setup.say import say


@dataclass(frozen=True, slots=True)
class Checker:
    """One question to the whole tree. The longest come first, because two run at a time."""

    name: str
    argv: Sequence[str]


def _tool(name: str, *arguments: str) -> Sequence[str]:
    return [str(VENV / "bin" / name), *arguments]


CHECKERS = (
    Checker("types", _tool("mypy", ".")),
    Checker("templates", _tool("djlint", "templates", "--lint", "--quiet")),
    Checker("migrations", [str(PYTHON), "-W", "ignore", "manage.py", "makemigrations", "--check", "--dry-run"]),
    Checker("catalogue", [str(PYTHON), "-W", "ignore", "manage.py", "update_catalogue", "--check"]),
    Checker("imports", _tool("lint-imports", "--no-logo")),
    Checker("dependencies", _tool("deptry", ".", "--config", "deptry.toml")),
    Checker("limits", [str(PYTHON), "-m", "portal.setup.limits"]),
    Checker("lint", _tool("ruff", "check", ".")),
    Checker("format", _tool("ruff", "format", "--check", ".")),
)


@dataclass(frozen=True, slots=True)
class _Answer:
    checker: Checker
    code: int
    output: str
    seconds: float


def run_lint() -> int:
    """0 if every checker is content, else 1. The output of those that are not follows each other."""
    with ThreadPoolExecutor(max_workers=2) as pool:
        answers = list(pool.map(_ask, CHECKERS))
    for answer in answers:
        if answer.code:
            say(f"---- {answer.checker.name}\n{answer.output.rstrip()}")
    for answer in answers:
        say(f"{'ok    ' if answer.code == 0 else 'FAILED'} {answer.checker.name} ({answer.seconds:.1f} s)")
    return 1 if any(answer.code for answer in answers) else 0


def _ask(checker: Checker) -> _Answer:
    started = time.monotonic()
    environment = {**unused_services(), "DJANGO_SETTINGS_MODULE": "portal.settings.test"}
    environment["PATH"] = f"{VENV / 'bin'}{os.pathsep}{os.environ.get('PATH', os.defpath)}"
    done = subprocess.run(
        checker.argv, cwd=ROOT, env=environment, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL
    )
    return _Answer(checker, done.returncode, done.stdout + done.stderr, time.monotonic() - started)
