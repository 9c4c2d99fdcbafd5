"""What holds for every decision, whatever the snapshot. Written from the definition, without the engine's own parts."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping

from scheduling.engine import (
    MILLI,
    Decision,
    Job,
    JobState,
    NodeState,
    Policy,
    Snapshot,
    Start,
)

Party = tuple[str, int]


class Laws:
    """One snapshot, the decision on it, and the sums that the laws are about."""

    def __init__(self, snapshot: Snapshot, now: float, policy: Policy, decision: Decision) -> None:
        self.snapshot, self.now, self.policy, self.decision = snapshot, now, policy, decision
        self.jobs = {job.id: job for job in snapshot.jobs}
        self.nodes = {node.id: node for node in snapshot.nodes}
        self.projects = {project.id: project for project in snapshot.projects}
        self.groups = {group.id: group for group in snapshot.groups}
        self.victims = {preempt.job for preempt in decision.preempt}
        self.held = [job for job in snapshot.jobs if job.state is not JobState.QUEUED]
        self.starts_now = [start for start in decision.start if not start.after]

    def check(self) -> None:
        self.every_queued_job_once()
        self.every_start_is_whole()
        self.no_device_twice()
        self.nothing_is_taken_from_nodes_that_take_nothing()
        self.cpus_and_memory_suffice()
        self.the_protected_are_within_guarantees()
        self.limits_hold()
        self.cores_and_memory_of_projects_hold()
        self.others_stay_out_of_windows()
        self.the_reserve_is_untouched()
        self.earmarks_are_kept()
        self.every_victim_is_legal()
        self.shares_are_sane()

    def every_queued_job_once(self) -> None:
        said = [start.job for start in self.decision.start] + [wait.job for wait in self.decision.wait]
        assert sorted(said) == sorted(job.id for job in self.snapshot.jobs if job.state is JobState.QUEUED)
        assert all(wait.reason and wait.text.endswith(".") for wait in self.decision.wait)

    def every_start_is_whole(self) -> None:
        """Exactly the nodes asked for, the same on each, whole GPUs or part of one, on one model that is allowed."""
        for start in self.decision.start:
            ask = self.jobs[start.job].ask
            assert len(start.placement) == ask.nodes
            for node, devices in start.placement.items():
                assert sum(devices.values()) == ask.milli
                assert all(milli > 0 for milli in devices.values())
                assert len(devices) == ask.devices
                models = {device.id: device.gpu_model for device in self.nodes[node].devices}
                assert {models[device] for device in devices} <= {start.gpu_model}
            assert not ask.gpu_models or start.gpu_model in ask.gpu_models or not ask.milli

    def no_device_twice(self) -> None:
        """Releasing is not free: what starts now fits beside all that runs or stops; the rest once its victims are
        gone, beside everything else."""
        now = self._load([*self._placements(self.held), *self._starts(self.starts_now)])
        later = self._load([*self._placements(self._staying()), *self._starts(self.decision.start)])
        for load in (now, later):
            for (node, device), users in load.items():
                assert sum(milli for _job, milli in users) <= MILLI, (node, device)
                assert self._may_share([job for job, _milli in users]), (node, device)

    def nothing_is_taken_from_nodes_that_take_nothing(self) -> None:
        for start in self.decision.start:
            for node in start.placement:
                assert self.nodes[node].state is NodeState.UP
                holders = self.nodes[node].holders
                assert holders is None or self.jobs[start.job].project in holders

    def cpus_and_memory_suffice(self) -> None:
        for node in self.snapshot.nodes:
            here = [job for job in self.held if node.id in job.placement]
            starting = [self.jobs[start.job] for start in self.starts_now if node.id in start.placement]
            if starting:
                assert node.cpus is None or sum(job.ask.cpus for job in here + starting) <= node.cpus
                memory = sum(job.ask.memory_bytes for job in here + starting)
                assert node.memory_bytes is None or memory <= node.memory_bytes
                is_alone = len(here + starting) == 1
                assert is_alone or not any(job.ask.is_exclusive for job in here + starting)

    def the_protected_are_within_guarantees(self) -> None:
        """What starts is within them, at every level; with all that ran before too, where no guarantee was cut."""
        before = self._use(job for job in self.held if not job.is_preemptible)
        started = self._use(self._begun(job for job in self.jobs.values() if not job.is_preemptible))
        is_cut = any(milli > self._guaranteed(party, model) for (party, model), milli in before.items())
        for (party, model), milli in started.items():
            ran = 0 if is_cut else before[party, model]
            assert ran + milli <= self._guaranteed(party, model), (party, model)

    def limits_hold(self) -> None:
        """At every level of what starts, its victims gone."""
        started = self._use(self._begun(self.jobs.values()))
        staying = self._use(self._staying())
        for party, model in started:
            limit = self._limit(party, model)
            assert limit is None or staying[party, model] + started[party, model] <= limit, (party, model)

    def cores_and_memory_of_projects_hold(self) -> None:
        """Of who starts something that asks for them, its victims gone."""
        for start in self.decision.start:
            project = self.projects[self.jobs[start.job].project]
            every = [*self._staying(), *self._begun(self.jobs.values())]
            asks = [job.ask for job in every if job.project == project.id]
            if self.jobs[start.job].ask.cpus and project.cpu_limit is not None:
                assert sum(ask.cpus * ask.nodes for ask in asks) <= project.cpu_limit, project.name
            if self.jobs[start.job].ask.memory_bytes and project.memory_limit_bytes is not None:
                assert sum(ask.memory_bytes * ask.nodes for ask in asks) <= project.memory_limit_bytes, project.name

    def others_stay_out_of_windows(self) -> None:
        """At each moment that a window begins, and now: what started and would still run leaves free, on nodes that
        take something, all that the holders do not use of their windows. Whose GPUs were set aside has them."""
        owners = {mark.job for mark in self.snapshot.earmarks}
        for window in self.snapshot.windows:
            moment = max(self.now, window.start)
            if moment < window.end:
                starters = {
                    job.project
                    for job in self._begun(self.jobs.values())
                    if job.gpu_model == window.gpu_model
                    and job.ask.milli
                    and job.id not in owners
                    and self._runs_at(job.id, moment)
                }
                for project in starters:
                    assert self._free_at(window.gpu_model, moment) >= self._owed(project, window.gpu_model, moment)

    def _owed(self, project: int, model: str, moment: float) -> int:
        """To others: of their windows at this moment, what they do not use then."""
        held: dict[int, int] = defaultdict(int)
        for window in self.snapshot.windows:
            if window.project != project and window.gpu_model == model and window.start <= moment < window.end:
                held[window.project] += window.milli
        running = self._at(model, moment)
        return sum(
            max(0, milli - sum(job.ask.total_milli for job in running if job.project == holder))
            for holder, milli in held.items()
        )

    def _at(self, model: str, moment: float) -> list[Job]:
        jobs = [*self._staying(), *self._begun(self.jobs.values())]
        return [job for job in jobs if job.gpu_model == model and self._runs_at(job.id, moment)]

    def _free_at(self, model: str, moment: float) -> int:
        open_nodes = {node.id: node for node in self.snapshot.nodes if node.state is NodeState.UP}
        placed = [*self._placements(self._staying()), *self._starts(self.decision.start)]
        return sum(MILLI for node in open_nodes.values() for device in node.devices if device.gpu_model == model) - sum(
            sum(devices.values())
            for job, node, devices in placed
            if node in open_nodes and open_nodes[node].devices[0].gpu_model == model and self._runs_at(job.id, moment)
        )

    def _runs_at(self, number: int, moment: float) -> bool:
        """Whether it would still run then."""
        job = self.jobs[number]
        if moment <= self.now:
            return True
        if job.state is JobState.STOPPING:
            return self.now + self.policy.grace_s > moment
        began = self.now if job.started_at is None else job.started_at
        return job.max_runtime_s is None or began + job.max_runtime_s > moment

    def the_reserve_is_untouched(self) -> None:
        """By what starts anew. Whose GPUs were set aside has them, should a node be lost meanwhile."""
        owners = {mark.job for mark in self.snapshot.earmarks}
        usual = {
            start.gpu_model
            for start in self.starts_now
            if not self.jobs[start.job].is_emergency and start.job not in owners and self.jobs[start.job].ask.milli
        }
        load = self._load([*self._placements(self.held), *self._starts(self.starts_now)])
        emergency = [job for job in [*self.held, *self._begun(self.jobs.values(), self.starts_now)] if job.is_emergency]
        for model, reserve in self.snapshot.reserve.items():
            free = sum(
                MILLI - sum(milli for _job, milli in load.get((node.id, device.id), ()))
                for node in self.snapshot.nodes
                for device in node.devices
                if node.state is NodeState.UP and device.gpu_model == model
            )
            used = sum(job.ask.total_milli for job in emergency if job.gpu_model == model) + self._set_aside(model)
            assert model not in usual or free + used >= reserve, model

    def _set_aside(self, model: str) -> int:
        """For emergencies."""
        return sum(
            mark.milli
            for mark in self.decision.earmarks
            if self.jobs[mark.job].is_emergency and self.nodes[mark.node].devices[0].gpu_model == model
        )

    def earmarks_are_kept(self) -> None:
        """On each node there is room for what is set aside beside what stays and what starts now."""
        for node in self.snapshot.nodes:
            marked = sum(mark.milli for mark in self.decision.earmarks if mark.node == node.id)
            if marked:
                assert node.state is not NodeState.DOWN
                running = [job for job in self._staying() if job.state is JobState.RUNNING]
                load = self._load([*self._placements(running), *self._starts(self.starts_now)])
                used = sum(milli for (at, _device), users in load.items() if at == node.id for _job, milli in users)
                assert used + marked <= len(node.devices) * MILLI, node.name
        owners = {mark.job for mark in self.decision.earmarks}
        assert owners <= {job.id for job in self.snapshot.jobs if job.state is JobState.QUEUED}
        assert owners.isdisjoint(start.job for start in self.starts_now)

    def every_victim_is_legal(self) -> None:
        assert max(Counter(preempt.job for preempt in self.decision.preempt).values(), default=1) == 1
        after = {start.job: set(start.after) for start in self.decision.start}
        told: dict[int, set[int]] = defaultdict(set)
        for preempt in self.decision.preempt:
            victim = self.jobs[preempt.job]
            assert victim.state is JobState.RUNNING
            assert preempt.lost_gpu_seconds == self._lost(victim)
            if preempt.by is None:
                assert victim.member_lost_at is not None
                assert self.now - victim.member_lost_at > self.policy.member_lost_after_s
            else:
                told[preempt.by].add(victim.id)
                self._is_legal(victim, self.jobs[preempt.by])
        assert all(after[newcomer] >= victims for newcomer, victims in told.items())
        for newcomer, victims in told.items():
            own = {self.jobs[victim].project == self.jobs[newcomer].project for victim in victims}
            assert len(own) == 1, "reclaim and preempt are mixed"

    def _is_legal(self, victim: Job, newcomer: Job) -> None:
        if victim.started_at is not None:
            over = max(0, victim.interruptions_today - self.policy.interruptions_per_day + 1)
            assert self.now - victim.started_at >= victim.min_runtime_s * 2**over
        protected = sum(job.ask.total_milli for job in self.held if self._counts_with(job, victim))
        guaranteed = self._guaranteed(("project", victim.project), victim.gpu_model)
        levels = [self._guaranteed(party, victim.gpu_model) for party in self._parties(victim.project)]
        assert victim.is_preemptible or protected > min([guaranteed, *levels]), "a protected job is stopped"
        if victim.project == newcomer.project:
            assert victim.priority < newcomer.priority
        else:
            self._is_within_share(newcomer)

    def _counts_with(self, job: Job, victim: Job) -> bool:
        """Whether it may be among those that cost the victim its protection."""
        above = set(self._parties(victim.project))
        return (
            not job.is_preemptible
            and job.gpu_model == victim.gpu_model
            and any(party in above for party in self._parties(job.project))
        )

    def _is_within_share(self, newcomer: Job) -> None:
        start = next(start for start in self.decision.start if start.job == newcomer.id)
        party = ("project", newcomer.project)
        others = self._use(
            job for job in self._begun(self.jobs.values()) if job.project == newcomer.project and job.id != newcomer.id
        )
        if not others[party, start.gpu_model]:
            use = self._use(self.held)[party, start.gpu_model] + newcomer.ask.total_milli
            stopped = self._use(self.jobs[victim] for victim in self.victims)[party, start.gpu_model]
            assert use - stopped <= self.decision.share[newcomer.project].get(start.gpu_model, 0)

    def shares_are_sane(self) -> None:
        for project, shares in self.decision.share.items():
            for model, milli in shares.items():
                limit = self._limit(("project", project), model)
                assert milli >= 0
                assert limit is None or milli <= limit
        assert all(milli >= 0 for milli in self.decision.unassigned.values())

    # Sums

    def _staying(self) -> list[Job]:
        return [job for job in self.held if job.id not in self.victims]

    def _begun(self, jobs: Iterable[Job], starts: Iterable[Start] | None = None) -> list[Job]:
        """What starts, as if it ran."""
        wanted = {job.id: job for job in jobs}
        return [
            Job(
                job.id,
                job.name,
                job.project,
                job.ask,
                gpu_model=start.gpu_model,
                is_emergency=job.is_emergency,
                is_preemptible=job.is_preemptible,
            )
            for start in (self.decision.start if starts is None else starts)
            if (job := wanted.get(start.job)) is not None
        ]

    def _parties(self, project: int) -> Iterator[Party]:
        yield "project", project
        group = self.projects[project].group
        while group is not None:
            yield "group", group
            group = self.groups[group].parent

    def _use(self, jobs: Iterable[Job]) -> Mapping[tuple[Party, str], int]:
        use: dict[tuple[Party, str], int] = defaultdict(int)
        for job in jobs:
            for party in self._parties(job.project):
                if job.ask.total_milli:
                    use[party, job.gpu_model] += job.ask.total_milli
        return use

    def _guaranteed(self, party: Party, model: str) -> int:
        kind, number = party
        return (self.projects if kind == "project" else self.groups)[number].entitlement.guaranteed.get(model, 0)

    def _limit(self, party: Party, model: str) -> int | None:
        kind, number = party
        return (self.projects if kind == "project" else self.groups)[number].entitlement.limit.get(model)

    def _placements(self, jobs: Iterable[Job]) -> Iterator[tuple[Job, int, Mapping[int, int]]]:
        for job in jobs:
            for node, devices in job.placement.items():
                yield job, node, devices

    def _starts(self, starts: Iterable[Start]) -> Iterator[tuple[Job, int, Mapping[int, int]]]:
        for start in starts:
            for node, devices in start.placement.items():
                yield self.jobs[start.job], node, devices

    def _load(
        self, placed: Iterable[tuple[Job, int, Mapping[int, int]]]
    ) -> Mapping[tuple[int, int], list[tuple[Job, int]]]:
        load: dict[tuple[int, int], list[tuple[Job, int]]] = defaultdict(list)
        for job, node, devices in placed:
            for device, milli in devices.items():
                load[node, device].append((job, milli))
        return load

    def _may_share(self, jobs: list[Job]) -> bool:
        return len({job.project for job in jobs}) <= 1 or all(job.ask.shares_device for job in jobs)

    def _lost(self, job: Job) -> float:
        known = [moment for moment in (job.started_at, job.last_checkpoint_at) if moment is not None]
        return job.ask.total_milli * (self.now - max(known)) / MILLI if known else 0
