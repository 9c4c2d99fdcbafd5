"""Settings of the agent: command line first, environment second, then the default."""

import argparse
import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn
from urllib.parse import urlsplit

from agent.errors import BadSettings

LOG_CAP_BYTES = 1 << 30
SPOOL_CAP_BYTES = 32 << 20
MAX_SIMULATED = 64


@dataclass(frozen=True)
class Simulation:
    """Devices that do not exist: how many of which GPU model."""

    gpu_model: str
    count: int


@dataclass(frozen=True)
class Settings:
    """All that can be set. ``cpus`` and ``memory_bytes`` replace what the node says about itself."""

    home: Path
    portal_url: str
    broker_url: str = ""
    enrolment_token_file: Path | None = None
    simulation: Simulation | None = None
    is_stopping_jobs_on_exit: bool = False
    cpus: int | None = None
    memory_bytes: int | None = None
    log_cap_bytes: int = LOG_CAP_BYTES
    spool_cap_bytes: int = SPOOL_CAP_BYTES


@dataclass(frozen=True)
class _Option:
    flag: str
    variable: str
    text: str
    default: str | None = None


OPTIONS = (
    _Option("--home", "SLUICE_AGENT_HOME", "folder of this node's agent: token, member folders, spool"),
    _Option("--portal", "SLUICE_PORTAL_URL", "address of the portal, http:// or https://"),
    _Option("--broker", "SLUICE_BROKER_URL", "address of the broker; empty: no early wake, syncs only", ""),
    _Option("--enrolment-token-file", "SLUICE_ENROLMENT_TOKEN_FILE", "file with the one-time token", ""),
    _Option("--simulate", "SLUICE_SIMULATE", "MODEL:COUNT, devices that do not exist and say so", ""),
    _Option("--cpus", "SLUICE_AGENT_CPUS", "CPUs to report instead of the node's own", ""),
    _Option("--memory-bytes", "SLUICE_AGENT_MEMORY_BYTES", "memory to report instead of the node's own", ""),
    _Option("--log-cap-bytes", "SLUICE_AGENT_LOG_CAP_BYTES", "output kept of one job", str(LOG_CAP_BYTES)),
    _Option("--spool-cap-bytes", "SLUICE_AGENT_SPOOL_CAP_BYTES", "samples kept", str(SPOOL_CAP_BYTES)),
)
STOP_JOBS_VARIABLE = "SLUICE_AGENT_STOP_JOBS_ON_EXIT"


class _Parser(argparse.ArgumentParser):
    """One line instead of the usage text."""

    def error(self, message: str) -> NoReturn:
        raise BadSettings(message)


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="python -m agent", description="The program on a GPU node.", allow_abbrev=False)
    for option in OPTIONS:
        parser.add_argument(option.flag, help=f"{option.text} [{option.variable}]")
    parser.add_argument(
        "--stop-jobs-on-exit",
        action="store_true",
        help=f"end the jobs gracefully when the agent ends [{STOP_JOBS_VARIABLE}]",
    )
    return parser


def _from_environment(option: _Option, environment: Mapping[str, str]) -> str | None:
    """The variable itself, or the content of the file that ``NAME_FILE`` names."""
    if option.variable in environment:
        return environment[option.variable]
    if not option.variable.endswith("_FILE") and (name := environment.get(f"{option.variable}_FILE")):
        try:
            return Path(name).read_text().strip()
        except OSError as error:
            raise BadSettings(f"{option.variable}_FILE: {name}: {error.strerror}") from error
    return option.default


def _number(name: str, text: str, *, least: int = 1) -> int | None:
    if not text:
        return None
    try:
        value = int(text)
    except ValueError:
        raise BadSettings(f"{name}: {text!r} is not a whole number") from None
    if value < least:
        raise BadSettings(f"{name}: {value} is less than {least}")
    return value


def parse_simulation(text: str) -> Simulation | None:
    """``MODEL:COUNT``. Raises BadSettings."""
    if not text:
        return None
    gpu_model, _, count = text.rpartition(":")
    if not gpu_model.strip() or not count:
        raise BadSettings(f"--simulate: {text!r} is not MODEL:COUNT")
    number = _number("--simulate", count) or 1
    if number > MAX_SIMULATED:
        raise BadSettings(f"--simulate: {number} devices are more than {MAX_SIMULATED}")
    return Simulation(gpu_model.strip(), number)


def _portal_url(text: str) -> str:
    parts = urlsplit(text)
    if parts.scheme not in ("http", "https") or not parts.netloc:
        raise BadSettings(f"--portal: {text!r} is not an http:// or https:// address")
    return text.rstrip("/")


def _broker_url(text: str) -> str:
    if text and urlsplit(text).scheme not in ("redis", "rediss", "unix", "redis+socket"):
        raise BadSettings("--broker: only redis:// and rediss:// addresses are known")
    return text


def parse(arguments: Sequence[str], environment: Mapping[str, str] = os.environ) -> Settings:
    """Read the settings. Raises BadSettings with one line that names the setting."""
    given = vars(_parser().parse_args(arguments))
    values: dict[str, str] = {}
    for option in OPTIONS:
        value = given[option.flag[2:].replace("-", "_")]
        value = _from_environment(option, environment) if value is None else value
        if value is None or (option.default is None and not value):
            raise BadSettings(f"{option.flag} (or {option.variable}) is required: {option.text}")
        values[option.flag] = value
    token_file = values["--enrolment-token-file"]
    return Settings(
        home=Path(values["--home"]).absolute(),
        portal_url=_portal_url(values["--portal"]),
        broker_url=_broker_url(values["--broker"]),
        enrolment_token_file=Path(token_file) if token_file else None,
        simulation=parse_simulation(values["--simulate"]),
        is_stopping_jobs_on_exit=given["stop_jobs_on_exit"] or environment.get(STOP_JOBS_VARIABLE) == "1",
        cpus=_number("--cpus", values["--cpus"]),
        memory_bytes=_number("--memory-bytes", values["--memory-bytes"]),
        log_cap_bytes=_number("--log-cap-bytes", values["--log-cap-bytes"], least=4096) or LOG_CAP_BYTES,
        spool_cap_bytes=_number("--spool-cap-bytes", values["--spool-cap-bytes"], least=4096) or SPOOL_CAP_BYTES,
    )


def fits(seconds: float, least: float, most: float) -> float:
    """A duration from outside, kept inside what makes sense."""
    return min(most, max(least, seconds)) if math.isfinite(seconds) else most
