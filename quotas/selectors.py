"""Reading the ledger: who is promised what, when; what is free; and the story of a project's quota (QUO5)."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Q, QuerySet, Sum
from django.utils.translation import gettext as _

from accounts.policies import has_role
from inventory.capacity import Capacity, DatedAmount
from inventory.models import GpuModel, Pool, PoolKind
from inventory.selectors import capacity_at, capacity_facts, models_live_first, only_simulated
from kernel import clock
from kernel.intervals import Interval
from kernel.ranges import to_interval, to_range
from projects.models import Project, ResearchArea
from projects.policies import SEES_ALL, visible_to
from quotas import usage
from quotas.ledger import LedgerStep, ModelFacts, tightest
from quotas.models import Claim, ClaimKind, PoolAccess, Resource
from quotas.usage import QuotaKey


@dataclass(frozen=True, slots=True)
class Quota:
    """What one project holds of one resource: guaranteed part and upper limit; ``limit`` None: no limit."""

    guaranteed: int
    limit: int | None

    def with_claim(self, guaranteed: int, limit: int | None) -> "Quota":
        both = None if self.limit is None or limit is None else self.limit + limit
        return Quota(self.guaranteed + guaranteed, both)

    @property
    def settled(self) -> "Quota":
        """A sum as it holds: a limit never below the guarantee, whatever a temporary raise left of it."""
        return self if self.limit is None else Quota(self.guaranteed, max(self.limit, self.guaranteed))


def live_claims() -> QuerySet[Claim]:
    """Every claim that counts in the ledger: all but those voided before they took effect."""
    return Claim.objects.filter(voided_at__isnull=True)


def quotas_at(at: datetime, project_ids: Iterable[int] | None = None) -> dict[QuotaKey, Quota]:
    """What every project (or these) holds at an instant, by project, resource and GPU model.

    Base claims and what comes on top of them are summed. Emergency claims are left out: only jobs under such a
    grant may use them. A project that is suspended still holds its quota; it may not use it (REG2).
    """
    claims = live_claims().filter(project__isnull=False, during__contains=at).exclude(kind=ClaimKind.EMERGENCY)
    if project_ids is not None:
        claims = claims.filter(project__in=list(project_ids))
    held: dict[QuotaKey, Quota] = {}
    rows = claims.values_list("project_id", "resource", "gpu_model_id", "guaranteed", "limit")
    for project, resource, model, guaranteed, limit in rows:
        key: QuotaKey = (project or 0, resource, model)
        held[key] = held[key].with_claim(guaranteed, limit) if key in held else Quota(guaranteed, limit)
    return {key: quota.settled for key, quota in held.items()}


def area_quotas_at(at: datetime) -> dict[QuotaKey, Quota]:
    """What every research area is promised on top of its projects' own guarantees; the key's first part: the area."""
    claims = live_claims().filter(area__isnull=False, during__contains=at).exclude(kind=ClaimKind.EMERGENCY)
    held: dict[QuotaKey, Quota] = {}
    for area, resource, model, guaranteed, limit in claims.values_list(
        "area_id", "resource", "gpu_model_id", "guaranteed", "limit"
    ):
        key: QuotaKey = (area or 0, resource, model)
        held[key] = held[key].with_claim(guaranteed, limit) if key in held else Quota(guaranteed, limit)
    return held


def emergencies_at(at: datetime, project_ids: Iterable[int]) -> dict[tuple[int, int], int]:
    """GPUs of the reserve that are released to these projects at an instant, by project and GPU model."""
    claims = live_claims().filter(kind=ClaimKind.EMERGENCY, resource=Resource.GPU, during__contains=at)
    rows = claims.filter(project__in=list(project_ids)).values_list("project_id", "gpu_model_id")
    sums = rows.annotate(total=Sum("guaranteed"))
    return {(project or 0, model or 0): int(total) for project, model, total in sums if total}


def with_emergencies(
    quotas: Mapping[QuotaKey, Quota], released: Mapping[tuple[int, int], int]
) -> dict[tuple[int, int], Quota]:
    """GPU quotas by project and GPU model, with what ``emergencies_at`` says is released on top."""
    held = {
        (project, model): quota
        for (project, resource, model), quota in quotas.items()
        if resource == Resource.GPU and model is not None
    }
    for key, gpus in released.items():
        held[key] = held.get(key, Quota(0, 0)).with_claim(gpus, gpus)
    return held


def promised_in_areas_at(at: datetime) -> dict[tuple[int, int], int]:
    """GPUs guaranteed to the projects of each research area at an instant, emergency claims included, by area and GPU
    model. Areas below and what an area itself is promised are not in it."""
    claims = live_claims().filter(resource=Resource.GPU, project__area__isnull=False, during__contains=at)
    sums = claims.values_list("project__area_id", "gpu_model_id").annotate(total=Sum("guaranteed"))
    return {(area or 0, model or 0): int(total) for area, model, total in sums if total}


def promised_at(at: datetime, gpu_model_ids: Iterable[int] | None = None) -> dict[int, int]:
    """GPUs guaranteed at an instant by GPU model (all or these), whoever holds them; emergency claims apart."""
    claims = _promises().filter(during__contains=at)
    sums = dict(claims.values_list("gpu_model_id").annotate(total=Sum("guaranteed")))
    wanted = GpuModel.objects.values_list("pk", flat=True) if gpu_model_ids is None else gpu_model_ids
    return {pk: int(sums.get(pk) or 0) for pk in wanted}


def promised_beside_projects_at(at: datetime) -> int:
    """GPUs of ``promised_at`` that areas, pools and reservations hold, which no project's line shows."""
    claims = _promises().filter(during__contains=at, project__isnull=True)
    return int(claims.aggregate(total=Sum("guaranteed"))["total"] or 0)


def free_between(gpu_model: GpuModel | int, within: Interval) -> int:
    """GPUs of a model that can be guaranteed through all of ``within``: usable less promised at its tightest."""
    return tightest_between(gpu_model, within).free


def tightest_between(gpu_model: GpuModel | int, within: Interval) -> LedgerStep:
    """The instant of ``within`` with the least free GPUs of a model, and the ledger there."""
    pk = gpu_model.pk if isinstance(gpu_model, GpuModel) else gpu_model
    return tightest(model_facts([pk], within)[pk], within)


def model_facts(
    gpu_model_ids: Iterable[int], within: Interval, *, without_claims: Iterable[int] = ()
) -> dict[int, ModelFacts]:
    """The ledger's rows of these GPU models that touch ``within``; some claims may be left out."""
    ids = list(gpu_model_ids)
    promised: defaultdict[int, list[DatedAmount]] = defaultdict(list)
    emergency: defaultdict[int, list[DatedAmount]] = defaultdict(list)
    claims = (
        live_claims().filter(gpu_model__in=ids, during__overlap=to_range(within)).exclude(pk__in=list(without_claims))
    )
    for pk, kind, during, amount in claims.values_list("gpu_model_id", "kind", "during", "guaranteed"):
        stream = emergency if kind == ClaimKind.EMERGENCY else promised
        stream[pk or 0].append((to_interval(during), amount))
    facts = capacity_facts(ids, within)
    return {pk: ModelFacts(facts[pk].gpus, facts[pk].reserve, tuple(promised[pk]), tuple(emergency[pk])) for pk in ids}


@dataclass(frozen=True, slots=True)
class ModelLine:
    """One GPU model at an instant, in whole GPUs."""

    model: GpuModel
    capacity: Capacity
    promised: int
    is_simulated: bool
    """No real device backs it."""

    @property
    def free(self) -> int:
        return self.capacity.usable - self.promised


def model_lines(at: datetime) -> list[ModelLine]:
    """Capacity, reserve and promises of every GPU model at an instant; models on live agents come first."""
    capacities, promised = capacity_at(at), promised_at(at)
    nothing, simulated = Capacity(0, 0), only_simulated()
    return [
        ModelLine(model, capacities.get(model.pk, nothing), promised.get(model.pk, 0), model.pk in simulated)
        for model in models_live_first()
    ]


def visible_claims(person: object) -> QuerySet[Claim]:
    """Claims of projects, as far as this person may know of the project. Every query of a screen starts here."""
    return Claim.objects.filter(project__in=visible_to(person)).select_related("project", "gpu_model")


def quota_rows(person: object, at: datetime) -> QuerySet[Claim]:
    """Claims in force at an instant that this person may see, by project, resource and model."""
    rows = visible_claims(person).filter(voided_at__isnull=True, during__contains=at)
    return rows.order_by("project__name", "resource", "gpu_model__name", "kind", "pk")


@dataclass(frozen=True, slots=True)
class QuotaRow:
    """A claim of a project as lists show it, with the project's use of that resource; None: nobody can tell."""

    claim: Claim
    used: float | None


def with_use(claims: Sequence[Claim], at: datetime) -> list[QuotaRow]:
    """These claims with what their projects use at an instant, asked once for all."""
    used = usage.used_at(at, {claim.project_id for claim in claims if claim.project_id})
    if used is None:
        return [QuotaRow(claim, None) for claim in claims]
    keys = [(claim.project_id or 0, claim.resource, claim.gpu_model_id) for claim in claims]
    return [QuotaRow(claim, used.get(key, 0)) for claim, key in zip(claims, keys, strict=True)]


def in_words(claim: Claim) -> str:
    """A claim in one line: ``4 × H100 guaranteed, limit 6``."""
    limit = _("no limit") if claim.limit is None else _("limit %(limit)s") % {"limit": claim.amount(claim.limit)}
    return _("%(guaranteed)s guaranteed, %(limit)s") % {
        "guaranteed": claim.amount(claim.guaranteed),
        "limit": limit,
    }


def area_claims(person: object, at: datetime) -> QuerySet[Claim]:
    """What areas are promised on top of their projects at an instant, for those who see every project."""
    if not has_role(person, *SEES_ALL):
        return Claim.objects.none()
    rows = live_claims().filter(area__isnull=False, during__contains=at)
    return rows.select_related("area", "gpu_model").order_by("area__name", "resource", "gpu_model__name", "pk")


def history(project_id: int) -> QuerySet[Claim]:
    """Every claim a project ever had, voided ones too, newest first, with who granted and who ended it."""
    claims = Claim.objects.filter(project=project_id)
    return claims.select_related("gpu_model", "granted_by", "ended_by").order_by("-granted_at", "-pk")


def live_access() -> QuerySet[PoolAccess]:
    """Every access to a dedicated pool but those voided before they began."""
    return PoolAccess.objects.filter(voided_at__isnull=True)


def pools_open_at(at: datetime) -> dict[int, frozenset[int]]:
    """By dedicated pool: the projects that may use it at an instant, areas resolved to their projects."""
    rows = list(live_access().filter(during__contains=at).values_list("pool_id", "project_id", "area_id"))
    below = with_areas_below({area for _pool, _project, area in rows if area is not None})
    within: defaultdict[int, set[int]] = defaultdict(set)
    every = {area for areas in below.values() for area in areas}
    for project, area in Project.objects.filter(area__in=every).values_list("pk", "area_id"):
        within[area or 0].add(project)
    open_to: defaultdict[int, set[int]] = defaultdict(set, {pk: set() for pk in _dedicated()})
    for pool, project, area in rows:
        if project is not None:
            open_to[pool].add(project)
        for inner in below.get(area or 0, ()):
            open_to[pool] |= within[inner]
    return {pool: frozenset(projects) for pool, projects in open_to.items()}


def with_areas_below(area_ids: Iterable[int]) -> dict[int, frozenset[int]]:
    """Each of these research areas with every area below it, itself included."""
    wanted = list(area_ids)
    if not wanted:
        return {}
    children: defaultdict[int, set[int]] = defaultdict(set)
    for area, parent in ResearchArea.objects.filter(parent__isnull=False).values_list("pk", "parent_id"):
        children[parent or 0].add(area)
    below = {}
    for area in wanted:
        found, edge = {area}, {area}
        while edge:
            edge = {child for parent in edge for child in children[parent]} - found
            found |= edge
        below[area] = frozenset(found)
    return below


def visible_access(person: object, pool_id: int) -> QuerySet[PoolAccess]:
    """Access to a pool that is not over, of the projects and areas this person may know of."""
    rows = live_access().filter(pool=pool_id, during__overlap=to_range(Interval(clock.now())))
    if not has_role(person, *SEES_ALL):
        mine = visible_to(person)
        areas = with_areas_below(ResearchArea.objects.values_list("pk", flat=True))
        own = set(mine.filter(area__isnull=False).values_list("area_id", flat=True))
        reached = [area for area, below in areas.items() if below & own]
        rows = rows.filter(Q(project__in=mine) | Q(area__in=reached))
    return rows.select_related("pool", "project", "area", "granted_by").order_by("during", "pk")


def _dedicated() -> QuerySet[Pool, int]:
    return Pool.objects.filter(kind=PoolKind.DEDICATED).values_list("pk", flat=True)


def _promises() -> QuerySet[Claim]:
    gpu = Q(resource=Resource.GPU, gpu_model__isnull=False)
    return live_claims().filter(gpu).exclude(kind=ClaimKind.EMERGENCY)
