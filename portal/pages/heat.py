"""The cluster as cells: nodes grouped by GPU model and pool, one cell per GPU, with sums that are true."""

from collections.abc import Iterable
from dataclasses import dataclass

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from inventory.models import Device, DeviceState, Node
from inventory.selectors import nodes_with_devices
from inventory.states import NodeState
from kernel.formats import number
from kernel.heat import STEPS, Cell, step
from kernel.svg import Segment
from monitoring.engine.series import mean_of
from monitoring.selectors.latest import GpuReading, gpus_latest
from scheduling.selectors.holdings import Holding, holdings_now

LOW_PCT = 10
FEW = 16
_OUT = (NodeState.DRAINING, NodeState.MAINTENANCE, NodeState.SUSPECT)


@dataclass(frozen=True, slots=True)
class NodeColumn:
    node: Node
    cells: tuple[Cell, ...]
    label: str


@dataclass(frozen=True, slots=True)
class Counts:
    """GPUs. ``low``: held and below ten per cent; ``out``: down, lost or draining and not held."""

    gpus: int
    held: int
    low: int
    free: int
    out: int
    no_data: int
    mean_pct: float | None

    @classmethod
    def of(cls, cells: Iterable[Cell]) -> "Counts":
        every = list(cells)
        used = [cell for cell in every if cell.kind == "used"]
        known = [cell.utilisation for cell in used if cell.utilisation is not None]
        return cls(
            gpus=len(every),
            held=sum(cell.kind in ("used", "no_data") for cell in every),
            low=sum(value < LOW_PCT for value in known),
            free=sum(cell.kind == "free" for cell in every),
            out=sum(cell.kind in ("down", "draining") for cell in every),
            no_data=sum(cell.kind == "no_data" for cell in every),
            mean_pct=mean_of(known),
        )


@dataclass(frozen=True, slots=True)
class Rack:
    """Columns that stand side by side over one label."""

    label: str
    columns: tuple[NodeColumn, ...]


@dataclass(frozen=True, slots=True)
class Group:
    """Nodes of one model in one pool, the simulated ones apart."""

    gpu_model: str
    pool: str
    is_simulated: bool
    racks: tuple[Rack, ...]
    counts: Counts
    segments: tuple[Segment, ...]


@dataclass(frozen=True, slots=True)
class Cluster:
    groups: tuple[Group, ...]
    real: Counts
    simulated: Counts
    nodes: int


def cluster_now(pool: str = "", model: str = "") -> Cluster:
    """Five statements, whatever the number of GPUs."""
    nodes = nodes_with_devices()
    if pool:
        nodes = nodes.filter(pool__name=pool)
    if model:
        nodes = nodes.filter(gpu_model__name=model)
    rows, readings, held = list(nodes), gpus_latest(), holdings_now()
    columns = [_column(node, readings, held) for node in rows]
    keyed: dict[tuple[str, str, bool], list[NodeColumn]] = {}
    for column in columns:
        node = column.node
        name = node.gpu_model.name if node.gpu_model else ""
        keyed.setdefault((name, node.pool.title, node.is_simulated), []).append(column)
    groups = tuple(_group(*key, columns) for key, columns in sorted(keyed.items()))
    by_kind = [[cell for c in columns if c.node.is_simulated is kind for cell in c.cells] for kind in (False, True)]
    return Cluster(groups, Counts.of(by_kind[0]), Counts.of(by_kind[1]), len(rows))


def _group(model: str, pool: str, is_simulated: bool, columns: list[NodeColumn]) -> Group:
    cells = [cell for column in columns for cell in column.cells]
    return Group(model, pool, is_simulated, _racks(columns), Counts.of(cells), _segments(cells))


def _racks(columns: list[NodeColumn]) -> tuple[Rack, ...]:
    """Few nodes stand each over its own name; many in eights over the first and the last."""
    if len(columns) <= FEW:
        return tuple(Rack(column.node.name, (column,)) for column in columns)
    eights = [columns[at : at + 8] for at in range(0, len(columns), 8)]
    return tuple(Rack(f"{row[0].node.name} – {row[-1].node.name}", tuple(row)) for row in eights)


def _column(node: Node, readings: dict[int, GpuReading], held: dict[int, list[Holding]]) -> NodeColumn:
    devices = [device for device in node.devices.all() if device.state != DeviceState.RETIRED]
    cells = tuple(cell_of(node, device, readings.get(device.pk), device.pk in held) for device in devices)
    counts = Counts.of(cells)
    words = [node.name, NodeState(node.state).label]
    words.append(ngettext("%(held)s of %(count)s GPU held", "%(held)s of %(count)s GPUs held", counts.gpus))
    label = ", ".join(str(word) for word in words) % {"held": counts.held, "count": counts.gpus}
    if counts.mean_pct is not None:
        label += _(", mean %(mean)s %%") % {"mean": number(counts.mean_pct)}
    if node.is_simulated:
        label += _(", simulated")
    return NodeColumn(node, cells, label)


def cell_of(node: Node, device: Device, reading: GpuReading | None, is_held: bool) -> Cell:
    """Held GPUs show what they do; without a fresh sample that is no data, never idle."""
    if node.state == NodeState.DOWN or device.state == DeviceState.LOST:
        return Cell("down")
    if is_held:
        value = reading.utilisation_pct if reading else None
        return Cell("no_data") if value is None else Cell("used", value)
    return Cell("draining") if node.state in _OUT else Cell("free")


def _segments(cells: list[Cell]) -> tuple[Segment, ...]:
    """Busy first, as the eye reads: the six steps, free, no data, out."""
    steps = [0] * (len(STEPS) + 1)
    for cell in cells:
        if cell.kind == "used" and cell.utilisation is not None:
            steps[step(cell.utilisation)] += 1
    counts = Counts.of(cells)
    parts = [Segment(steps[index], f"heat-{index}", str(steps[index])) for index in range(len(STEPS), -1, -1)]
    rest = [
        Segment(counts.no_data, "no-data", _("no data: %(count)s") % {"count": counts.no_data}),
        Segment(counts.free, "heat-none", _("free: %(count)s") % {"count": counts.free}),
        Segment(counts.out, "heat-out", _("down or draining: %(count)s") % {"count": counts.out}),
    ]
    return tuple(segment for segment in [*parts, *rest] if segment.amount)
