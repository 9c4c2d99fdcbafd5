"""A workload through the engine, from event to event: arrivals, ends, and GPUs that come free after a stop.

Nothing is decided between events; all that happens at one instant is one event. A stopped job holds its GPUs for the
whole grace time, then queues again at its old place with the work left since its last checkpoint.
"""

import heapq
from collections import defaultdict
from enum import IntEnum

from scheduling.engine.decide import decide
from scheduling.engine.model import Decision, Earmark, JobState, Project, Snapshot, Start
from scheduling.engine.replay.measures import Meter, Outcome, Spread, capacity_of
from scheduling.engine.replay.past_use import PastUse
from scheduling.engine.replay.running import Life, lives_of
from scheduling.engine.replay.terms import Terms, with_past_use
from scheduling.engine.replay.workload import Workload
from scheduling.engine.scenario.names import numbered


class _Kind(IntEnum):
    """In the order in which they count at one instant: what comes free, then what arrives."""

    END = 0
    STOPPED = 1
    ARRIVAL = 2
    WAKE = 3


def replay(workload: Workload, terms: Terms) -> Outcome:
    """``terms`` name every project of the workload. Deterministic."""
    simulation = _Simulation(workload, terms)
    simulation.run()
    return simulation.outcome()


class _Simulation:
    def __init__(self, workload: Workload, terms: Terms) -> None:
        self._workload = workload
        self._terms = terms
        projects = {project.name: project.id for project in terms.projects}
        self._lives = lives_of(workload.jobs, numbered(job.name for job in workload.jobs), projects)
        self._present: dict[int, Life] = {}
        self._meter = Meter(capacity_of(device.gpu_model for node in workload.nodes for device in node.devices))
        self._past = PastUse(terms.half_life_s, self._meter.capacity)
        self._use: dict[tuple[int, str], int] = defaultdict(int)
        self._events = [(life.work.submitted_at, _Kind.ARRIVAL, number, 0) for number, life in self._lives.items()]
        heapq.heapify(self._events)
        self._now = self._events[0][0] if self._events else 0.0
        self._signalled: dict[int, float] = {}
        self._earmarks: tuple[Earmark, ...] = ()
        self._due: dict[int, int] = {}
        self._started = 0
        self._woken: set[float] = set()

    def run(self) -> None:
        while self._events:
            self._advance(self._events[0][0])
            has_changed = False
            while self._events and self._events[0][0] == self._now:
                _at, kind, number, run = heapq.heappop(self._events)
                has_changed |= self._happen(kind, number, run)
            if not self._present:
                self._due = {}
            elif has_changed:
                self._decide()

    def outcome(self) -> Outcome:
        lives, meter = self._lives.values(), self._meter
        names = {project.id: project.name for project in self._terms.projects}
        waited = [life.first_started_at - life.work.submitted_at for life in lives if life.first_started_at is not None]
        return Outcome(
            jobs=len(self._lives),
            ended=sum(life.ended_at is not None for life in lives),
            never_started=len(self._lives) - len(waited),
            allocation_rate=meter.allocation_rate,
            waiting_s=Spread.of(waited),
            completion_s=Spread.of(
                [life.ended_at - life.work.submitted_at for life in lives if life.ended_at is not None]
            ),
            preemptions=meter.preemptions,
            lost_gpu_hours=meter.lost_gpu_hours,
            fairness=meter.fairness(names),
            decisions=meter.decisions,
            simulated_s=meter.simulated_s,
        )

    def _advance(self, to: float) -> None:
        self._meter.pass_time(to - self._now, self._use, self._due)
        self._past.pass_time(to - self._now, self._use)
        self._now = to

    def _happen(self, kind: int, number: int, run: int) -> bool:
        """False for the end of a run that was stopped before it."""
        if kind == _Kind.WAKE:
            return True
        life = self._lives[number]
        if kind == _Kind.ARRIVAL:
            self._present[number] = life
        elif kind == _Kind.STOPPED:
            self._come_free(number, life)
        elif life.run == run and life.job.state is JobState.RUNNING:
            self._add_use(life, -1)
            life.ended_at = self._now
            del self._present[number]
        else:
            return False
        return True

    def _come_free(self, number: int, life: Life) -> None:
        """The grace time is over."""
        lost = life.lost_gpu_seconds(self._signalled.pop(number), self._now, self._terms.checkpoint_interval_s)
        self._meter.lost_gpu_s += lost
        self._past.credit(life.job.project, life.job.gpu_model, lost)
        self._add_use(life, -1)
        life.queue_again(self._now)

    def _decide(self) -> None:
        interval = self._terms.checkpoint_interval_s
        snapshot = Snapshot(
            nodes=self._workload.nodes,
            jobs=tuple(life.at(self._now, interval) for life in self._present.values()),
            projects=self._projects(),
            groups=self._terms.groups,
            reserve=self._terms.reserve,
            earmarks=self._earmarks,
        )
        decision = decide(snapshot, self._now, self._terms.policy)
        self._meter.decisions += 1
        self._earmarks = decision.earmarks
        self._due = self._due_by(decision)
        for start in decision.start:
            if not start.after:
                self._begin(start)
        for preempt in decision.preempt:
            self._signal(preempt.job)
        self._wake()

    def _due_by(self, decision: Decision) -> dict[int, int]:
        wanted: dict[int, int] = defaultdict(int)
        for life in self._present.values():
            wanted[life.job.project] += life.job.ask.total_milli
        return {project: min(wanted[project], sum(shares.values())) for project, shares in decision.share.items()}

    def _projects(self) -> tuple[Project, ...]:
        if not self._terms.policy.usage_sensitivity:
            return self._terms.projects
        return with_past_use(self._terms.projects, self._past.parts())

    def _begin(self, start: Start) -> None:
        life = self._lives[start.job]
        self._started += 1
        life.begin(start, self._now, self._started)
        self._add_use(life, 1)
        if (end := life.ends_at(self._now)) is not None:
            heapq.heappush(self._events, (end, _Kind.END, start.job, life.run))

    def _signal(self, number: int) -> None:
        life = self._lives[number]
        self._meter.preemptions += 1
        self._signalled[number] = self._now
        life.stop(self._now, self._terms.checkpoint_interval_s)
        heapq.heappush(self._events, (self._now + self._terms.policy.grace_s, _Kind.STOPPED, number, life.run))

    def _add_use(self, life: Life, sign: int) -> None:
        self._use[(life.job.project, life.job.gpu_model)] += sign * life.job.ask.total_milli

    def _wake(self) -> None:
        """While somebody waits, time alone can change the answer: a minimum run time ends, an earmark runs out."""
        jobs, policy = [life.job for life in self._present.values()], self._terms.policy
        if all(job.state is not JobState.QUEUED for job in jobs):
            return
        moments = [
            job.started_at + job.min_runtime_s * 2 ** max(0, job.interruptions_today - policy.interruptions_per_day + 1)
            for job in jobs
            if job.state is JobState.RUNNING and job.started_at is not None and job.min_runtime_s
        ]
        lasting = 2 * policy.grace_s + policy.earmark_margin_s
        moments += [mark.since + lasting + 1 for mark in self._earmarks if mark.since is not None]
        later = [moment for moment in moments if moment > self._now]
        if later and min(later) not in self._woken:
            self._woken.add(min(later))
            heapq.heappush(self._events, (min(later), _Kind.WAKE, 0, 0))
