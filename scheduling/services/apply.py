"""Apply a decision: what starts, what must give way, and for whom freed GPUs are kept; each all or nothing."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

from django.db.models import prefetch_related_objects

from inventory.models import Device, DeviceState, GpuModel, Node, PoolKind
from inventory.states import NodeState
from kernel import clock
from kernel.unit import lock
from projects.models import Project
from projects.states import ProjectState
from quotas.selectors import pools_open_at
from scheduling.engine.model import Decision, Earmark, Group, Preempt, Snapshot, Start
from scheduling.engine.model import Job as Asked
from scheduling.engine.model import Project as Party
from scheduling.models import Job
from scheduling.policy import Choices
from scheduling.services.earmarks import earmarks_replace
from scheduling.services.preemption import Victim, give_way, victims_of
from scheduling.services.starting import Place, starts_write
from scheduling.snapshot import Parties, load_parties
from scheduling.states import JobState

_Terms = Mapping[int, tuple[Party, tuple[Group, ...]]]


@dataclass(frozen=True, slots=True)
class Applied:
    """Jobs that started, jobs whose start or victims no longer fitted, and jobs that give way."""

    started: tuple[int, ...] = ()
    dropped: tuple[int, ...] = ()
    preempted: tuple[int, ...] = ()
    earmarks: tuple[Earmark, ...] = ()
    has_new_earmarks: bool = False


def decision_apply(snapshot: Snapshot, decision: Decision, choices: Choices, now: datetime) -> Applied:
    """Do what still fits, drop the rest. Locks projects, jobs and nodes, and reads project, job and node state, pool
    access and quota again under them (REG2). Inside the leader's transaction.

    A start whose project's terms are not exactly those that the decision saw is dropped, and so is a newcomer with all
    of its victims; the next decision sees the new ones. So nothing of what the engine weighs is weighed here again.
    """
    starts = [start for start in decision.start if not start.after]
    looks = _Looks(snapshot, starts, decision.preempt, choices, now)
    fitting = [start for start in starts if looks.may_start(start)]
    starts_write([looks.place(start) for start in fitting], looks.at)
    stopping = [preempts for preempts in _by_newcomer(decision.preempt) if looks.may_stop(preempts)]
    for preempts in stopping:
        for preempt in preempts:
            give_way(looks.victims[preempt.job], None if preempt.by is None else looks.jobs[preempt.by])
    started = tuple(start.job for start in fitting)
    preempted = tuple(preempt.job for preempts in stopping for preempt in preempts)
    dropped = {start.job for start in starts} - set(started)
    dropped |= {preempt.by or preempt.job for preempt in decision.preempt} - _owners(stopping)
    earmarks = _earmarks(snapshot, decision, dropped)
    return Applied(started, tuple(sorted(dropped)), preempted, earmarks, earmarks_replace(earmarks, looks.at))


def _by_newcomer(preempts: Iterable[Preempt]) -> list[list[Preempt]]:
    """Together what stops for one job; gangs that lost members each alone."""
    groups: dict[tuple[int, int], list[Preempt]] = {}
    for preempt in preempts:
        key = (0, preempt.job) if preempt.by is None else (1, preempt.by)
        groups.setdefault(key, []).append(preempt)
    return [groups[key] for key in sorted(groups)]


def _owners(groups: Iterable[list[Preempt]]) -> set[int]:
    return {preempt.by or preempt.job for group in groups for preempt in group}


def _earmarks(snapshot: Snapshot, decision: Decision, dropped: set[int]) -> tuple[Earmark, ...]:
    """The decision's; a job that was dropped keeps what it had."""
    kept = [mark for mark in snapshot.earmarks if mark.job in dropped]
    return tuple([mark for mark in decision.earmarks if mark.job not in dropped] + kept)


class _Looks:
    """The second look, under locks: is everything as the decision saw it?"""

    def __init__(
        self,
        snapshot: Snapshot,
        starts: list[Start],
        preempts: tuple[Preempt, ...],
        choices: Choices,
        now: datetime,
    ) -> None:
        self._seen: dict[int, Asked] = {job.id: job for job in snapshot.jobs}
        newcomers = {start.job for start in starts} | {preempt.by for preempt in preempts if preempt.by is not None}
        concerned = newcomers | {preempt.job for preempt in preempts}
        projects = {self._seen[pk].project for pk in newcomers}
        nodes = {node for start in starts for node in start.placement}
        self.at = now
        self.jobs: Mapping[int, Job] = {}
        self.victims: Mapping[int, Victim] = {}
        self._nodes: Mapping[int, Node] = {}
        if not concerned:
            return
        rows = lock({Project: projects, Job: concerned, Node: nodes}, must_exist=False)
        # Waiting for the locks took time: what came into force meanwhile counts.
        self.at = max(now, clock.now())
        self.jobs, self._nodes = rows[Job], rows[Node]
        self._projects: Mapping[int, Project] = rows[Project]
        self._models = dict(GpuModel.objects.values_list("name", "pk"))
        self.victims = victims_of(self.jobs, {preempt.job for preempt in preempts})
        self._terms_seen: _Terms = Parties(snapshot.projects, snapshot.groups).terms()
        names = {pk: name for name, pk in self._models.items()}
        self._terms_now: _Terms = load_parties(projects, self.at, choices, names, with_use=False).terms()
        if starts:
            self._look_at_nodes(starts)

    def _look_at_nodes(self, starts: list[Start]) -> None:
        prefetch_related_objects(list(self._nodes.values()), "pool")
        self._open_to = pools_open_at(self.at)
        wanted = [device for start in starts for devices in start.placement.values() for device in devices]
        gone = Device.objects.filter(pk__in=wanted).exclude(state=DeviceState.OK)
        self._lost = set(gone.values_list("pk", flat=True))

    def may_start(self, start: Start) -> bool:
        """Whether job, project, quota, nodes and devices are as the decision saw them."""
        return self._waits_as_seen(start.job) and all(
            self._is_usable(node, self.jobs[start.job].project_id) and not self._lost & set(devices)
            for node, devices in start.placement.items()
        )

    def may_stop(self, preempts: list[Preempt]) -> bool:
        """Whether every victim still runs and their newcomer still waits under the terms that it was granted."""
        by = preempts[0].by
        return (by is None or self._waits_as_seen(by)) and all(preempt.job in self.victims for preempt in preempts)

    def place(self, start: Start) -> Place:
        """What is to be written."""
        nodes = [self._nodes[node] for node in start.placement]
        return Place(self.jobs[start.job], self._models[start.gpu_model], nodes, start.placement)

    def _waits_as_seen(self, pk: int) -> bool:
        job, seen = self.jobs.get(pk), self._seen[pk]
        if job is None or job.state != JobState.QUEUED or job.is_preemptible != seen.is_preemptible:
            return False
        project = self._projects.get(seen.project)
        is_active = project is not None and project.state == ProjectState.ACTIVE
        return is_active and self._terms_now.get(seen.project) == self._terms_seen.get(seen.project)

    def _is_usable(self, node_id: int, project_id: int) -> bool:
        node = self._nodes.get(node_id)
        if node is None or node.state != NodeState.UP:
            return False
        return node.pool.kind == PoolKind.SHARED or project_id in self._open_to.get(node.pool_id, frozenset())
