"""Use that reaches 80 or 100 per cent of a project's limit on a GPU model: its leads are told, once per crossing.

Jobs start and end all day, so that use swings about a level: a crossing is over, and the next one is told again, only
after use has stayed below the level for a whole day.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from accounts.notifications import Told, Topic, Urgency, notify_many
from inventory.models import GpuModel
from kernel import clock
from kernel.unit import unit_of_work
from projects.approvals import leads_of
from projects.models import Project
from projects.states import ProjectState
from quotas.models import LimitCrossing, Resource
from quotas.selectors import emergencies_at, quotas_at, with_emergencies
from quotas.usage import used_at

LEVELS = (80, 100)
"""Per cent of the limit."""
REST = timedelta(days=1)
GROUP = "quotas"
TOPICS = (
    Topic(
        name="quotas.near_limit",
        title=_("%(project)s uses %(level)s per cent of its limit on %(model)s"),
        text=_("%(used)s of %(limit)s GPUs are in use. What needs more than the rest will wait."),
        urgency=Urgency.NEWS,
        group=GROUP,
    ),
    Topic(
        name="quotas.at_limit",
        title=_("%(project)s uses all of its limit on %(model)s"),
        text=_(
            "%(used)s of %(limit)s GPUs are in use. Further jobs wait until some of these end, or until the limit is "
            "raised: ask for more on the project's quota page."
        ),
        urgency=Urgency.NEWS,
        group=GROUP,
    ),
)
Key = tuple[int, int]
"""Project and GPU model."""
Crossing = tuple[int, int, int]
"""Project, GPU model and level."""


@dataclass(frozen=True, slots=True)
class Use:
    """GPUs in use (parts of one possible) and the limit."""

    used: float
    limit: int

    @property
    def levels(self) -> list[int]:
        """Those that are reached. A limit of nothing is no level: nothing can run there."""
        return [level for level in LEVELS if self.limit > 0 and self.used * 100 >= self.limit * level]


def tell_crossings() -> int:
    """Remember what is reached now, and tell what was not reached before; how many notices were written.

    Where nobody can tell the use, nothing is told and nothing forgotten. Doing it again tells nobody twice. A constant
    number of statements.
    """
    now = clock.now()
    uses = _uses(now)
    if uses is None:
        return 0
    with unit_of_work():
        reached = {(*key, level) for key, use in uses.items() for level in use.levels}
        known = _still_open(reached, now)
        new = _begun(sorted(reached - known), now)
        return notify_many(_told(new, uses)) if new else 0


def _uses(now: datetime) -> dict[Key, Use] | None:
    """Of active projects, where there is a limit; None where nobody can tell."""
    active = set(Project.objects.filter(state=ProjectState.ACTIVE).values_list("pk", flat=True))
    quotas = with_emergencies(quotas_at(now, active), emergencies_at(now, active))
    limits = {key: quota.limit for key, quota in quotas.items() if quota.limit}
    used = used_at(now, {project for project, _model in limits})
    if used is None:
        return None
    return {key: Use(used.get((key[0], Resource.GPU, key[1]), 0), limit) for key, limit in limits.items()}


def _still_open(reached: Collection[Crossing], now: datetime) -> set[Crossing]:
    """The crossings that are not over. One that was seen below its level, and a day later still is, is over and
    forgotten."""
    rows = {(row.project_id, row.gpu_model_id, row.level): row for row in LimitCrossing.objects.all()}
    there = [row.pk for key, row in rows.items() if key in reached and row.below_since is not None]
    LimitCrossing.objects.filter(pk__in=there).update(below_since=None)
    left = [row.pk for key, row in rows.items() if key not in reached and row.below_since is None]
    LimitCrossing.objects.filter(pk__in=left).update(below_since=now)
    over = {
        key
        for key, row in rows.items()
        if key not in reached and row.below_since is not None and row.below_since <= now - REST
    }
    LimitCrossing.objects.filter(pk__in=[rows[key].pk for key in over]).delete()
    return rows.keys() - over


def _begun(keys: Sequence[Crossing], now: datetime) -> list[LimitCrossing]:
    """Remembered as crossed now. Of two runs at once the database lets one through, and that one tells."""
    rows = [LimitCrossing(project_id=p, gpu_model_id=m, level=level, since=now) for p, m, level in keys]
    LimitCrossing.objects.bulk_create(rows, ignore_conflicts=True)
    return list(LimitCrossing.objects.filter(since=now))


def _told(rows: Iterable[LimitCrossing], uses: Mapping[Key, Use]) -> list[Told]:
    """Of one that reached both levels at once only the higher is told."""
    highest = {(row.project_id, row.gpu_model_id): row for row in sorted(rows, key=lambda row: row.level)}
    projects = Project.objects.in_bulk({project for project, _model in highest})
    models = GpuModel.objects.in_bulk({model for _project, model in highest})
    leads = leads_of(projects)
    told = []
    for (project, model), row in highest.items():
        use = uses[project, model]
        words = {
            "project": projects[project].name,
            "model": models[model].title,
            "level": row.level,
            "used": f"{use.used:g}",
            "limit": use.limit,
        }
        topic = "quotas.at_limit" if row.level == max(LEVELS) else "quotas.near_limit"
        once = f"limit:{project}:{model}:{row.level}:{row.since.astimezone(UTC).isoformat()}"
        url = reverse("quotas:project", args=[project])
        told.append(Told(topic, leads.get(project, ()), projects[project], words, url, once))
    return told
