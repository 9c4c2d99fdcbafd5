"""What the ledger and the machines say about one request, read once. Amounts are whole GPUs unless named milli."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import Max

from inventory.capacity import DatedAmount
from inventory.models import Device, DeviceState, GpuModel
from inventory.selectors import capacity_facts
from inventory.states import NodeState
from kernel.calendar import day_bounds, local_day
from kernel.intervals import Interval
from kernel.ranges import to_interval, to_range
from portal.pages.approval.evidence.lending import Lending, Project, Running, lending
from portal.pages.approval.evidence.outlook import Asked, Outlook, outlook
from projects.selectors import tier_at
from quotas.ledger import ModelFacts
from quotas.models import ClaimKind, QuotaRequest, Resource
from quotas.requests.asking import Asked as Wanted
from quotas.requests.asking import asked_of
from quotas.selectors import live_claims
from quotas.states import RequestState
from scheduling.engine import MILLI
from scheduling.models import Attempt
from scheduling.policy import policy_now
from scheduling.states import JobState

USE_BACK = timedelta(days=14)


@dataclass(frozen=True, slots=True)
class Held:
    """One claim on the GPU model; ``project`` None: an area's, a pool's or a reservation's."""

    project: int | None
    kind: str
    guaranteed: int
    limit: int | None
    during: Interval


@dataclass(frozen=True, slots=True)
class Ledger:
    """Every claim on one GPU model that is in force since two weeks ago or later."""

    model: GpuModel
    rows: Sequence[Held]

    def of(self, project_id: int) -> list[Held]:
        """The ordinary claims of one project."""
        return [row for row in self.rows if row.project == project_id and row.kind != ClaimKind.EMERGENCY]

    def guaranteed_at(self, at: datetime) -> dict[int, int]:
        """By project, emergency claims apart."""
        sums: defaultdict[int, int] = defaultdict(int)
        for row in self.rows:
            if row.project is not None and row.kind != ClaimKind.EMERGENCY and row.during.contains(at):
                sums[row.project] += row.guaranteed
        return dict(sums)

    def facts(self, since: datetime) -> ModelFacts:
        """With capacity and reserve, as the ledger's arithmetic takes it. Two statements."""
        found = capacity_facts([self.model.pk], Interval(since))[self.model.pk]
        ordinary = tuple((row.during, row.guaranteed) for row in self.rows if row.kind != ClaimKind.EMERGENCY)
        emergency = tuple((row.during, row.guaranteed) for row in self.rows if row.kind == ClaimKind.EMERGENCY)
        return ModelFacts(found.gpus, found.reserve, ordinary, emergency)


def ledger_of(model: GpuModel, now: datetime) -> Ledger:
    """One statement."""
    claims = live_claims().filter(
        gpu_model=model, resource=Resource.GPU, during__overlap=to_range(Interval(now - USE_BACK))
    )
    found = claims.order_by("pk").values_list("project_id", "kind", "guaranteed", "limit", "during")
    rows = [Held(project, kind, amount, limit, to_interval(during)) for project, kind, amount, limit, during in found]
    return Ledger(model, rows)


def asked_on(ledger: Ledger, project_id: int, wanted: Wanted, now: datetime) -> Asked | None:
    """What is asked as the outlook takes it; None where its time has passed."""
    window = wanted.window(now)
    if window is None:
        return None
    own = ledger.of(project_id)
    held: tuple[DatedAmount, ...] = tuple((row.during, row.guaranteed) for row in own)
    raised = tuple((row.during, row.guaranteed) for row in own if row.kind == ClaimKind.TEMPORARY)
    return Asked(wanted.totals.guaranteed, window, held, raised, wanted.is_temporary)


def outlook_of(ledger: Ledger, asked: Asked, request: QuotaRequest, now: datetime) -> Outlook:
    """With the other requests that wait for the same model. Three statements."""
    others = QuotaRequest.objects.filter(gpu_model=ledger.model, state=RequestState.SUBMITTED).exclude(pk=request.pk)
    waiting = [asked_on(ledger, row.project_id, asked_of(row), now) for row in others.order_by("pk")]
    midnight = day_bounds(local_day(now)).start
    return outlook(asked, ledger.facts(midnight), [row for row in waiting if row is not None], now, midnight)


@dataclass(frozen=True, slots=True)
class Present:
    """The GPUs of one model now: those on machines that are there and not down, and what runs on them."""

    there: int
    by_project: dict[int, tuple[Running, ...]]
    names: dict[int, str]

    @property
    def used_milli(self) -> int:
        return sum(job.milli for jobs in self.by_project.values() for job in jobs)

    def used(self, project_id: int) -> float:
        """GPUs of one project, parts of one possible."""
        return sum(job.milli for job in self.by_project.get(project_id, ())) / MILLI


@dataclass(frozen=True, slots=True)
class Taken:
    """All that one project would be guaranteed, taken at once. ``reserve``: GPUs that are kept free."""

    project_id: int
    guaranteed: int
    reserve: int
    now: datetime


def present(model: GpuModel, now: datetime) -> Present:
    """Two statements."""
    devices = Device.objects.filter(gpu_model=model, state=DeviceState.OK)
    there = devices.exclude(node__state__in=(NodeState.DOWN, NodeState.REMOVED)).count()
    live = Attempt.objects.filter(gpu_model=model, ended_at__isnull=True).order_by("pk")
    rows = live.annotate(saved_at=Max("members__newest_checkpoint_at")).values_list(
        "job_id",
        "job__project_id",
        "job__project__name",
        "job__milli_gpus",
        "is_preemptible",
        "job__priority",
        "job__state",
        "started_at",
        "saved_at",
    )
    found: defaultdict[int, list[Running]] = defaultdict(list)
    names: dict[int, str] = {}
    for order, (job, project, name, milli, preemptible, priority, state, started, saved) in enumerate(rows):
        names[project] = name
        since = max((at for at in (started, saved) if at is not None), default=None)
        found[project].append(
            Running(
                id=job,
                milli=milli,
                is_preemptible=preemptible and state == JobState.RUNNING,
                priority=priority,
                lost_s=None if since is None else (now - since).total_seconds(),
                started_order=order,
            )
        )
    return Present(there, {project: tuple(jobs) for project, jobs in found.items()}, names)


def lending_of(ledger: Ledger, there: Present, tiers: Mapping[int, str], taken: Taken) -> Lending:
    """What others lose at the present use. One statement."""
    choices, guaranteed = policy_now().choices, ledger.guaranteed_at(taken.now)
    rows = [
        Project(pk, choices.rank_of(tiers.get(pk)), guaranteed.get(pk, 0), jobs)
        for pk, jobs in sorted(there.by_project.items())
    ]
    free = (there.there - taken.reserve) * MILLI - there.used_milli
    return lending(rows, free, taken.project_id, taken.guaranteed)


def tiers_of(project_ids: Iterable[int], now: datetime) -> dict[int, str]:
    """One statement."""
    return {pk: str(tier) for pk, tier in tier_at(project_ids, now).items()}
