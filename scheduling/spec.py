"""What a person asks to run, and what is malformed about it. Parsing only: no rights, no database."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from django.utils.translation import gettext as _

from kernel.errors import Invalid
from scheduling.engine import MILLI

MAX_GPUS = 100_000
LEAST_MILLI = 10
"""Every job holds a share of a GPU, so that the quota bounds how many run; a hundred on one device at most."""
MAX_SECONDS = 366 * 24 * 3600
MAX_GRACE_SECONDS = 24 * 3600
MAX_RETRIES = 100
MAX_NODES = 10_000
MAX_TEXT = 200
MAX_WORD = 40
MAX_PATH = 500
MAX_COMMAND_BYTES = 100_000
SIGNALS = ("SIGTERM", "SIGINT", "SIGUSR1", "SIGUSR2", "SIGHUP")
_ENV_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
Faults = dict[str, list[str]]


@dataclass(frozen=True, slots=True)
class JobSpec:
    """``gpu_models``: names, or ids as text; none means any that the project may use. ``milli_gpus`` is the total
    over all nodes; ``cpus`` and ``memory_bytes`` are per node, 0 for no claim;
    ``gpu_memory_bytes``: at least so much on each GPU. ``shares_device``: other projects may use the rest of its GPU
    if they say so, too. ``datasets``: ``[{"path": …, "version": …}]``. A ``grace_s`` of None is the pool's."""

    name: str
    command: tuple[str, ...]
    milli_gpus: int
    gpu_models: tuple[str, ...] = ()
    nodes_exact: int | None = None
    cpus: int = 0
    memory_bytes: int = 0
    gpu_memory_bytes: int = 0
    interconnect: str = ""
    is_exclusive: bool = False
    shares_device: bool = False
    is_preemptible: bool = False
    priority: int = 0
    max_runtime_s: int | None = None
    grace_s: int | None = None
    max_retries: int = 0
    environment: int | None = None
    env: Mapping[str, str] = field(default_factory=dict)
    datasets: tuple[Mapping[str, Any], ...] = ()
    checkpoint_dir: str = ""
    checkpoint_interval_s: int | None = None
    signal: str = "SIGTERM"


def require_well_formed(spec: JobSpec) -> None:
    """Raise ``Invalid`` naming every field that no portal could take, whatever the project and the hardware."""
    faults: Faults = {}
    _check_texts(spec, faults)
    _check_shape(spec, faults)
    _check_bounds(spec, faults)
    _check_env(spec, faults)
    if faults:
        raise Invalid(faults)


def _check_texts(spec: JobSpec, faults: Faults) -> None:
    if not spec.name.strip():
        _add(faults, "name", _("A job needs a name."))
    if len(spec.name) > MAX_TEXT:
        _add(
            faults, "name", _("%(n)s characters; at most %(max)s are allowed.") % {"n": len(spec.name), "max": MAX_TEXT}
        )
    if len(spec.interconnect) > MAX_WORD:
        text = _("%(n)s characters; at most %(max)s are allowed.")
        _add(faults, "interconnect", text % {"n": len(spec.interconnect), "max": MAX_WORD})
    if len(spec.checkpoint_dir) > MAX_PATH:
        text = _("%(n)s characters; at most %(max)s are allowed.")
        _add(faults, "checkpoint_dir", text % {"n": len(spec.checkpoint_dir), "max": MAX_PATH})
    texts = {"command": spec.command, "name": (spec.name,), "checkpoint_dir": (spec.checkpoint_dir,)}
    texts["interconnect"] = (spec.interconnect,)
    for name, values in texts.items():
        if any("\0" in value for value in values):
            _add(faults, name, _("A zero byte is not allowed."))
    if sum(len(part.encode()) for part in spec.command) > MAX_COMMAND_BYTES:
        _add(faults, "command", _("Longer than %(max)s bytes.") % {"max": MAX_COMMAND_BYTES})
    if spec.signal not in SIGNALS:
        _add(
            faults,
            "signal",
            _("“%(value)s” is not one of %(allowed)s.") % {"value": spec.signal[:40], "allowed": ", ".join(SIGNALS)},
        )


def _check_shape(spec: JobSpec, faults: Faults) -> None:
    nodes = spec.nodes_exact or 1
    if spec.milli_gpus > MILLI and spec.milli_gpus % MILLI:
        _add(faults, "gpus", _("More than one GPU is asked for in whole GPUs; a part of one is less than 1."))
    elif nodes > 1 and (spec.milli_gpus == 0 or spec.milli_gpus % (nodes * MILLI)):
        _add(
            faults,
            "nodes_exact",
            _("%(gpus)s GPUs cannot be divided evenly over %(nodes)s nodes.")
            % {"gpus": f"{spec.milli_gpus / MILLI:g}", "nodes": nodes},
        )
    if spec.shares_device and spec.milli_gpus >= MILLI:
        _add(faults, "shares_device", _("Whole GPUs have no rest that others could use; a part of one has."))
    if spec.shares_device and spec.is_exclusive:
        _add(faults, "shares_device", _("A node of its own is not shared."))


def _check_bounds(spec: JobSpec, faults: Faults) -> None:
    bounds = [
        ("gpus", spec.milli_gpus, LEAST_MILLI, MAX_GPUS * MILLI),
        ("nodes_exact", spec.nodes_exact, 1, MAX_NODES),
        ("cpus", spec.cpus, 0, 1_000_000),
        ("memory_bytes", spec.memory_bytes, 0, 2**60),
        ("gpu_memory_bytes", spec.gpu_memory_bytes, 0, 2**50),
        ("priority", spec.priority, -1000, 1000),
        ("max_runtime_s", spec.max_runtime_s, 1, MAX_SECONDS),
        ("grace_s", spec.grace_s, 0, MAX_GRACE_SECONDS),
        ("max_retries", spec.max_retries, 0, MAX_RETRIES),
        ("checkpoint_interval_s", spec.checkpoint_interval_s, 1, MAX_SECONDS),
    ]
    for name, value, least, most in bounds:
        if value is not None and not least <= value <= most:
            shown = (least / MILLI, most / MILLI, value / MILLI) if name == "gpus" else (least, most, value)
            _add(
                faults,
                name,
                _("%(value)s is not between %(least)s and %(most)s.")
                % {"value": f"{shown[2]:.15g}", "least": f"{shown[0]:.15g}", "most": f"{shown[1]:.15g}"},
            )


def _check_env(spec: JobSpec, faults: Faults) -> None:
    for key, value in spec.env.items():
        if not _ENV_KEY.fullmatch(key):
            _add(faults, "env", _("“%(key)s” is not a name that a variable can have.") % {"key": key[:60]})
        elif "\0" in value:
            _add(faults, "env", _("The value of %(key)s holds a zero byte.") % {"key": key[:60]})


def _add(faults: Faults, name: str, text: str) -> None:
    faults.setdefault(name, []).append(text)
