"""Which nodes to play: a file that whoever sets the fleet up writes."""

from pathlib import Path
from typing import Annotated

from msgspec import Meta, MsgspecError, Struct, json

from agent.errors import BadSettings
from agent.messages import Count, Few, Name
from agent.settings import MAX_SIMULATED


class NodeSpec(Struct, frozen=True):
    """One node. ``token`` is its one-time token; empty once the node has enrolled."""

    name: Name
    gpu_model: Name
    gpus: Annotated[int, Meta(ge=1, le=MAX_SIMULATED)]
    cpus: Few
    memory_bytes: Count
    disk_bytes: Count = 0
    interconnect: str = ""
    network_bps: Count | None = None
    token: str = ""


class FleetSpec(Struct, frozen=True):
    nodes: tuple[NodeSpec, ...]


def read_spec(path: Path) -> FleetSpec:
    """The fleet of this file. Raises BadSettings; two nodes of one name are one too many."""
    try:
        spec = json.decode(path.read_bytes(), type=FleetSpec)
    except OSError as error:
        raise BadSettings(f"--spec: {path}: {error.strerror}") from error
    except MsgspecError as error:
        raise BadSettings(f"--spec: {path}: {error}") from error
    names = [node.name for node in spec.nodes]
    doubled = sorted({name for name in names if names.count(name) > 1})
    if doubled:
        raise BadSettings(f"--spec: {path}: named twice: {', '.join(doubled)}")
    if any("/" in name or name.startswith(".") for name in names):
        raise BadSettings(f"--spec: {path}: a node's name is no path")
    return spec
