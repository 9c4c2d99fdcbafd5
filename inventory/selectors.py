"""Reading the inventory: capacity over time, prices, nodes and how they are."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import (
    Count,
    DateTimeField,
    DurationField,
    ExpressionWrapper,
    F,
    Prefetch,
    Q,
    QuerySet,
    Sum,
    Value,
)
from django.db.models.expressions import CombinedExpression
from django.db.models.functions import Coalesce

from inventory.capacity import Capacity, DatedAmount, reserve_gpus
from inventory.models import CapacityFact, Device, DeviceState, GpuModel, Node, NodePrice, Pool, ReserveFact, Source
from inventory.prices import DatedPrice, Price, PriceSegment, price_of, segments
from inventory.states import NodeState
from kernel import clock
from kernel.calendar import organisation_zone
from kernel.health import Health
from kernel.ids import NO_ROW, id_in
from kernel.intervals import Interval
from kernel.models import StateChange
from kernel.ranges import to_interval, to_range
from kernel.subject import subject_fields

LISTENED_TO = (NodeState.UP, NodeState.SUSPECT)
"""States in which silence makes a node down. A draining node that is silent stays draining."""


def capacity_at(at: datetime, gpu_model_ids: Iterable[int] | None = None) -> dict[int, Capacity]:
    """Accepted capacity and reserve of every GPU model (or these) at an instant, whatever the state of its nodes."""
    facts = CapacityFact.objects.filter(during__contains=at)
    gpus = dict(facts.values_list("gpu_model").annotate(total=Sum("gpus")))
    points = dict(ReserveFact.objects.filter(during__contains=at).values_list("gpu_model_id", "basis_points"))
    capacities = {}
    for pk in GpuModel.objects.values_list("pk", flat=True) if gpu_model_ids is None else gpu_model_ids:
        here = int(gpus.get(pk) or 0)
        capacities[pk] = Capacity(here, reserve_gpus(here, points.get(pk, 0)))
    return capacities


@dataclass(frozen=True, slots=True)
class CapacityFacts:
    """What ``inventory.capacity.sweep`` sums of one model: GPUs, and basis points of reserve, dated."""

    gpus: tuple[DatedAmount, ...] = ()
    reserve: tuple[DatedAmount, ...] = ()


def capacity_facts(gpu_model_ids: Iterable[int], within: Interval) -> dict[int, CapacityFacts]:
    """The dated facts of these models that touch ``within``."""
    ids, window = list(gpu_model_ids), to_range(within)
    gpus: defaultdict[int, list[DatedAmount]] = defaultdict(list)
    reserve: defaultdict[int, list[DatedAmount]] = defaultdict(list)
    facts = CapacityFact.objects.filter(gpu_model__in=ids, during__overlap=window).order_by("pk")
    for pk, during, amount in facts.values_list("gpu_model_id", "during", "gpus"):
        gpus[pk].append((to_interval(during), amount))
    reserves = ReserveFact.objects.filter(gpu_model__in=ids, during__overlap=window).order_by("pk")
    for pk, during, amount in reserves.values_list("gpu_model_id", "during", "basis_points"):
        reserve[pk].append((to_interval(during), amount))
    return {pk: CapacityFacts(tuple(gpus[pk]), tuple(reserve[pk])) for pk in ids}


def price_at(node_id: int, at: datetime) -> Price | None:
    """Price per GPU-hour of a node at an instant; None where none is set."""
    return price_of(_prices([node_id], Interval(at))[node_id], at, organisation_zone())


def prices_now(node_ids: Iterable[int]) -> dict[int, Price | None]:
    """``price_at`` of many nodes at this instant, in one query."""
    now, zone = clock.now(), organisation_zone()
    return {pk: price_of(prices, now, zone) for pk, prices in _prices(node_ids, Interval(now)).items()}


def price_segments(node_id: int, within: Interval, until: datetime) -> list[PriceSegment]:
    """``within`` (an open end counted up to ``until``) cut where the node's price changes; for charges."""
    end = until if within.end is None else min(within.end, until)
    if end <= within.start:
        return []
    prices = _prices([node_id], Interval(within.start, end))[node_id]
    return segments(prices, within.start, end, organisation_zone())


def price_cuts(node_ids: Iterable[int], within: Interval) -> dict[int, list[PriceSegment]]:
    """``price_segments`` of many nodes over the same closed interval, in one query."""
    end, zone = within.end or clock.now(), organisation_zone()
    return {pk: segments(found, within.start, end, zone) for pk, found in _prices(node_ids, within).items()}


def _prices(node_ids: Iterable[int], within: Interval) -> dict[int, list[DatedPrice]]:
    found: dict[int, list[DatedPrice]] = {pk: [] for pk in node_ids}
    rows = NodePrice.objects.filter(node__in=found, during__overlap=to_range(within)).order_by("pk")
    for row in rows:
        price = Price(row.per_gpu_hour, row.currency)
        found[row.node_id].append(DatedPrice(to_interval(row.during), row.minutes.lower, row.minutes.upper, price))
    return found


def nodes_with_devices() -> QuerySet[Node]:
    """Every node that is not removed, with pool, model and devices (``node.devices.all()``), by name."""
    devices = Device.objects.select_related("gpu_model").order_by("index", "pk")
    nodes = Node.objects.exclude(state=NodeState.REMOVED).select_related("pool", "gpu_model")
    return nodes.prefetch_related(Prefetch("devices", devices)).order_by("name")


def interconnects() -> list[str]:
    """What the nodes that are not removed report between their GPUs, each once, by name."""
    rows = Node.objects.exclude(state=NodeState.REMOVED).exclude(interconnect="")
    return list(rows.order_by("interconnect").values_list("interconnect", flat=True).distinct())


def unheard_nodes(now: datetime) -> QuerySet[Node]:
    """Nodes in any state that were not heard for longer than their pool allows. ``now``: the database's clock."""
    return Node.objects.alias(deadline=_deadline()).filter(deadline__lt=now)


def silent_nodes(now: datetime) -> QuerySet[Node]:
    """The unheard ones among those that should be heard: silence makes them down."""
    return unheard_nodes(now).filter(state__in=LISTENED_TO)


def _deadline() -> "ExpressionWrapper[CombinedExpression]":
    second = Value(timedelta(seconds=1), output_field=DurationField())
    allowed = ExpressionWrapper(F("pool__lost_after_s") * second, output_field=DurationField())
    heard = Coalesce("last_seen_at", "registered_at")
    return ExpressionWrapper(heard + allowed, output_field=DateTimeField())


@dataclass(frozen=True, slots=True)
class GpuCount:
    """GPUs of one node: accepted as capacity, and reported as working now. They differ when one is lost."""

    accepted: int = 0
    reported: int = 0

    @property
    def differs(self) -> bool:
        return self.accepted != self.reported


def gpu_counts(nodes: Sequence[Node]) -> dict[int, GpuCount]:
    """Accepted and reported GPUs of these nodes at this instant, in two queries."""
    facts = CapacityFact.objects.filter(node__in=nodes, during__contains=clock.now())
    accepted = dict(facts.values_list("node").annotate(total=Sum("gpus")))
    devices = Device.objects.filter(node__in=nodes, state=DeviceState.OK)
    reported = dict(devices.values_list("node").annotate(total=Count("pk")))
    return {node.pk: GpuCount(int(accepted.get(node.pk) or 0), int(reported.get(node.pk) or 0)) for node in nodes}


@dataclass(frozen=True, slots=True)
class NodeRow:
    """A node as lists show it."""

    node: Node
    gpus: GpuCount
    price: Price | None


def node_rows(nodes: Sequence[Node]) -> list[NodeRow]:
    """These nodes with their GPUs and prices at this instant, in three queries."""
    counts, prices = gpu_counts(nodes), prices_now(node.pk for node in nodes)
    return [NodeRow(node, counts[node.pk], prices[node.pk]) for node in nodes]


def capacity_story(node: Node) -> QuerySet[CapacityFact]:
    """What of a node counted as capacity when, newest first, with who accepted it."""
    return node.capacity_facts.select_related("gpu_model", "pool", "accepted_by").order_by("-during", "-pk")


def price_list(node: Node) -> QuerySet[NodePrice]:
    """Prices of a node in force now or later."""
    ahead = NodePrice.objects.filter(node=node, during__overlap=to_range(Interval(clock.now())))
    return ahead.order_by("during", "minutes")


def state_story(node: Node, limit: int = 50) -> QuerySet[StateChange]:
    """The last steps of a node's state, newest first."""
    return StateChange.objects.filter(**subject_fields(node)).order_by("-pk")[:limit]


def registered_gpus(gpu_model_id: int) -> int:
    """Devices of a model on nodes that are not removed, spot nodes included, whatever their state."""
    devices = Device.objects.filter(gpu_model=gpu_model_id).exclude(state=DeviceState.RETIRED)
    return devices.exclude(node__state=NodeState.REMOVED).count()


@dataclass(frozen=True, slots=True)
class HostTotals:
    """Cores and memory of the registered nodes that back guarantees."""

    cpus: int
    memory_bytes: int

    def of(self, resource: str) -> int:
        """The total of ``cpu`` or ``memory``."""
        return {"cpu": self.cpus, "memory": self.memory_bytes}[resource]


def host_totals() -> HostTotals:
    """Summed over nodes that are not removed; burst nodes never back guarantees (INV1)."""
    nodes = Node.objects.exclude(state=NodeState.REMOVED).exclude(source=Source.SPOT)
    sums = nodes.aggregate(cpus=Sum("cpus"), memory=Sum("memory_bytes"))
    return HostTotals(int(sums["cpus"] or 0), int(sums["memory"] or 0))


def gpu_model_named(text: str) -> GpuModel | None:
    """The catalogue entry of this name or id."""
    return GpuModel.objects.filter(name=text).first() or GpuModel.objects.filter(pk=id_in(text) or NO_ROW).first()


def pool_named(text: str) -> Pool | None:
    """The pool of this name or id."""
    return Pool.objects.filter(name=text).first() or Pool.objects.filter(pk=id_in(text) or NO_ROW).first()


def models_live_first() -> list[GpuModel]:
    """The catalogue; models on nodes whose agent was heard lately come first, then by name."""
    now = clock.database_now()
    heard = Node.objects.filter(state=NodeState.UP, last_seen_at__isnull=False).alias(deadline=_deadline())
    live = set(heard.filter(deadline__gte=now).values_list("devices__gpu_model", flat=True))
    return sorted(GpuModel.objects.all(), key=lambda model: (model.pk not in live, model.name))


def only_simulated() -> set[int]:
    """Ids of the models of which there are simulated devices and no real one."""
    live = Device.objects.exclude(state=DeviceState.RETIRED).exclude(node__state=NodeState.REMOVED)
    real = Count("pk", filter=Q(is_simulated=False))
    return set(live.values("gpu_model").annotate(real=real).filter(real=0).values_list("gpu_model", flat=True))


def pools() -> QuerySet[Pool]:
    """Every pool with ``nodes_total`` and ``nodes_up``, by name."""
    present = ~Q(nodes__state=NodeState.REMOVED) & Q(nodes__isnull=False)
    return Pool.objects.annotate(
        nodes_total=Count("nodes", filter=present), nodes_up=Count("nodes", filter=Q(nodes__state=NodeState.UP))
    ).order_by("name")


@dataclass(frozen=True, slots=True)
class PoolRow:
    """A pool as lists show it. ``nodes_total`` and ``nodes_up`` are counted on the pool."""

    pool: Pool
    gpus: int


def pool_rows() -> list[PoolRow]:
    """Every pool with its nodes and accepted GPUs at this instant."""
    gpus = pool_gpus(clock.now())
    return [PoolRow(pool, gpus.get(pool.pk, 0)) for pool in pools()]


@dataclass(frozen=True, slots=True)
class GpuModelRow:
    """A model of the catalogue; nodes that are there, and GPUs accepted at this instant."""

    model: GpuModel
    nodes: int
    gpus: int


def gpu_model_rows() -> list[GpuModelRow]:
    """Every model, fastest first."""
    accepted = capacity_at(clock.now())
    here = Node.objects.exclude(state=NodeState.REMOVED).values_list("gpu_model").annotate(count=Count("pk"))
    nodes = dict(here.order_by())
    models = GpuModel.objects.order_by("-suitability", "name")
    return [
        GpuModelRow(model, nodes.get(model.pk, 0), accepted.get(model.pk, Capacity(0, 0)).capacity) for model in models
    ]


def pool_gpus(at: datetime) -> dict[int, int]:
    """Accepted GPUs by pool at an instant."""
    facts = CapacityFact.objects.filter(during__contains=at)
    return dict(facts.values_list("pool").annotate(total=Sum("gpus")))


def agents_health() -> Health:
    """Whether every node that counts as up was heard within its pool's time. Without nodes there is nothing amiss."""
    now = clock.database_now()
    states = Counter(Node.objects.exclude(state=NodeState.REMOVED).values_list("state", flat=True))
    if not states:
        return Health(ok=True, detail="no nodes are enrolled")
    up = Node.objects.filter(state=NodeState.UP).alias(deadline=_deadline())
    unheard = up.filter(Q(last_seen_at__isnull=True) | Q(deadline__lt=now)).count()
    others = ", ".join(f"{count} {state}" for state, count in sorted(states.items()) if state != NodeState.UP)
    detail = f"{states[NodeState.UP] - unheard} of {states[NodeState.UP]} up nodes heard"
    return Health(ok=unheard == 0, detail=f"{detail}; {others}" if others else detail)
