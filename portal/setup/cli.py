"""The commands of ``./run``."""

import argparse
import os
import signal
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from portal.setup.backup import backup, restore
from portal.setup.front import ensure_front, ensure_translations
from portal.setup.install import ensure_requirements, only_one_setup
from portal.setup.lint import run_lint
from portal.setup.manage import manage
from portal.setup.places import ROOT
from portal.setup.refusal import ExitCode, Refusal
from portal.setup.say import say
from portal.setup.testing import run_fast_tests, run_tests
from portal.supervisor.instance import Instance
from portal.supervisor.prepare import Options
from portal.supervisor.start import start
from portal.supervisor.supervisor import StopRequested

DESCRIPTION = """\
./run [--port 8000] [--data DIR] [--empty] [--no-browser]   set up, start everything, stay in front
./run test [pytest arguments]     every test, browser tests included
./run lint                        format, lint, types, import layers, templates, migrations
./run check [--fast]              lint and test, as CI does; --fast: the part under three minutes
./run manage COMMAND ...          manage.py in the same environment, against the same data folder
./run backup FILE                 database, artefacts and secrets in one file
./run restore FILE                the same into an empty data folder
"""


def main(arguments: Sequence[str]) -> int:
    """Run one command; every reason to give up is one line and an exit code of its own."""
    try:
        signal.signal(signal.SIGTERM, _stop)
        return _dispatch(arguments)
    except Refusal as refusal:
        say(refusal.message)
        return refusal.code
    except (KeyboardInterrupt, StopRequested):
        say("interrupted")
        return ExitCode.INTERRUPTED


def _stop(_number: int, _frame: object) -> None:
    raise StopRequested


def _dispatch(arguments: Sequence[str]) -> int:
    data, rest = take_data(arguments)
    instance = Instance(data)
    if not rest or rest[0].startswith("-"):
        return _start(instance, rest)
    commands: dict[str, Callable[[Instance, Sequence[str]], int]] = {
        "test": lambda _instance, given: _test(given),
        "lint": lambda _instance, given: _lint(given),
        "check": lambda _instance, given: _check(given),
        "manage": _manage,
        "backup": _backup,
        "restore": _restore,
    }
    command = commands.get(rest[0])
    if command is None:
        raise Refusal(ExitCode.USAGE, f"unknown command {rest[0]!r}; ./run --help lists them")
    return command(instance, rest[1:])


def take_data(arguments: Sequence[str]) -> tuple[Path, list[str]]:
    """The data folder, named before or after the command, and the other arguments.

    After ``--`` nothing is ours, so that a management command may have a ``--data`` of its own.
    """
    chosen = os.environ.get("SLUICE_DATA") or str(ROOT / "var")
    rest: list[str] = []
    left = list(arguments)
    while left:
        argument = left.pop(0)
        if argument == "--":
            return Path(chosen).resolve(), rest + left
        if argument == "--data":
            if not left:
                raise Refusal(ExitCode.USAGE, "--data needs a folder")
            chosen = left.pop(0)
        elif argument.startswith("--data="):
            chosen = argument.removeprefix("--data=")
        else:
            rest.append(argument)
    return Path(chosen).resolve(), rest


def _parser(name: str) -> argparse.ArgumentParser:
    return argparse.ArgumentParser(
        prog=f"./run {name}".strip(),
        description=DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )


def _start(instance: Instance, arguments: Sequence[str]) -> int:
    parser = _parser("")
    parser.add_argument("--port", type=_port, default=8000, help="web port on 127.0.0.1 (8000)")
    parser.add_argument("--data", metavar="DIR", help="data folder (var/, or SLUICE_DATA)")
    parser.add_argument("--empty", action="store_true", help="without the demo organisation")
    parser.add_argument("--no-browser", action="store_true", help="do not open a browser")
    chosen = parser.parse_args(arguments)
    _set_up("local", ensure_front)
    start(instance, Options(port=chosen.port, is_empty=chosen.empty, opens_browser=not chosen.no_browser))
    return 0


def _port(text: str) -> int:
    if not text.isdigit() or not 1 <= int(text) <= 65535:
        raise argparse.ArgumentTypeError(f"{text!r} is not a port")
    return int(text)


def _set_up(requirements: str, *more: Callable[[], None]) -> None:
    with only_one_setup():
        ensure_requirements(requirements)
        for step in more:
            step()


def _test(arguments: Sequence[str]) -> int:
    _set_up("dev", ensure_front)
    return run_tests(arguments)


def _lint(arguments: Sequence[str]) -> int:
    _parser("lint").parse_args(arguments)
    _set_up("dev", ensure_translations)
    return run_lint()


def _check(arguments: Sequence[str]) -> int:
    parser = _parser("check")
    parser.add_argument("--fast", action="store_true", help="only what is done within three minutes")
    is_fast = parser.parse_args(arguments).fast
    _set_up("dev", ensure_front)
    lint_code = run_lint()
    test_code = run_fast_tests() if is_fast else run_tests([])
    return lint_code or test_code


def _manage(instance: Instance, arguments: Sequence[str]) -> int:
    if not arguments:
        raise Refusal(ExitCode.USAGE, "./run manage needs a command; ./run manage help lists them")
    _set_up("local", ensure_translations)
    return manage(instance, arguments)


def _backup(instance: Instance, arguments: Sequence[str]) -> int:
    _set_up("local")
    backup(instance, _one_file("backup", arguments))
    return 0


def _restore(instance: Instance, arguments: Sequence[str]) -> int:
    _set_up("local")
    restore(instance, _one_file("restore", arguments))
    return 0


def _one_file(name: str, arguments: Sequence[str]) -> Path:
    parser = _parser(name)
    parser.add_argument("file", type=Path)
    return Path(parser.parse_args(arguments).file).resolve()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
