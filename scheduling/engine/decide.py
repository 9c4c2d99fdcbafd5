"""What starts, who must stop for it, and why everything else waits."""

from collections.abc import Hashable, Iterable

from scheduling.engine.board import Board, Chosen
from scheduling.engine.earmarks import settle_earmarks
from scheduling.engine.explain import explain
from scheduling.engine.model import Decision, Earmark, Job, JobState, Policy, Snapshot
from scheduling.engine.queue import Queue, by_standing
from scheduling.engine.rules import Preemption, Reclaim, Rules
from scheduling.engine.victims import Exchange, Search, Usefulness


def decide(snapshot: Snapshot, now: float, policy: Policy) -> Decision:
    """The decision that docs/deciding.md defines. Deterministic; the snapshot is not changed.

    Actions: allocate, with planned starts and backfill; reclaim between projects; preempt inside a project; stop
    stale gangs. Each newcomer is placed whole or not at all. ``now`` is on the clock of the snapshot's instants.
    """
    board = Board(snapshot, now, policy)
    settle_earmarks(board, snapshot)
    _Allocation(board).run()
    for rules in (Reclaim, Preemption):
        _Exchanges(board, rules).run()
    _stop_stale_gangs(board, snapshot.jobs)
    return Decision(
        start=tuple(board.start),
        preempt=tuple(board.preempt),
        earmarks=_earmarks(board),
        wait=explain(board),
        share={
            project: {model: shares[party.index] for model, shares in board.shares.items()}
            for project, party in board.parties.projects.items()
        },
        unassigned={
            model: max(0, amount - sum(board.shares[model][party.index] for party in board.parties.top()))
            for model, amount in board.amounts.items()
        },
    )


def _earmarks(board: Board) -> tuple[Earmark, ...]:
    marks = [mark for marks in board.earmarks.values() for mark in marks]
    return tuple(sorted(marks, key=lambda mark: (mark.job, mark.node)))


class _Allocation:
    """Starts on what is free. Within this action use only grows and room only shrinks, so that what was refused once
    need not be asked again for a job that is alike."""

    def __init__(self, board: Board) -> None:
        self._board = board
        self._over_quota: set[Hashable] = set()
        self._full: set[Hashable] = set()

    def run(self) -> None:
        for job in Queue(self._board, self._board.ready()):
            self._offer(job)

    def _offer(self, job: Job) -> None:
        """Who is refused by quota blocks nobody; who lacks room, reserve included, gets a plan in time."""
        board, models = self._board, self._within_quota(job)
        if not models:
            return
        for standing in by_standing(board, job, [model for model in models if board.has_spare(job, model)]):
            chosen = self._place(job, standing)
            if chosen is not None:
                board.begin(job, chosen)
                return
        if board.now - job.queued_at >= board.policy.starvation_after_s:
            board.plan(job, models)

    def _within_quota(self, job: Job) -> list[str]:
        """Models on which quota allows the job."""
        key = self._board.eligible.shape(job)
        if key in self._over_quota:
            return []
        models = [model for model in self._board.eligible.holders(job) if self._board.gates.is_open(job, model)]
        if not models:
            self._over_quota.add(key)
        return models

    def _place(self, job: Job, models: Iterable[str]) -> Chosen | None:
        board = self._board
        shape = board.eligible.room_shape(job), job.avoid, job.id if job.id in board.earmarks else None
        # Full before there was any plan: for everybody; since then for those who would run as long.
        runtime = (job.max_runtime_s,) if board.calendar.plans.all() else ()
        runtimes = {(), runtime}
        tried = [model for model in models if not any((*shape, model, runtime) in self._full for runtime in runtimes)]
        chosen = board.place(job, tried, board.own_room(job)) if tried else None
        if chosen is None:
            self._full.update((*shape, model, runtime) for model in tried)
        return chosen


class _Exchanges:
    """One action in which others stop for newcomers. Each newcomer is tried once, in the order of the queue."""

    def __init__(self, board: Board, rules: type[Rules]) -> None:
        self._board = board
        self._rules = rules
        self._hopeless: set[Hashable] = set()
        self._useful: Usefulness = {}

    def run(self) -> None:
        queue = Queue(self._board, [job for job in self._board.ready() if self._models(job)])
        for job in queue:
            found = self._find(job)
            if found is not None:
                self._board.exchange(job, found.chosen, found.victims)
                for project in sorted({victim.project for victim in found.victims}):
                    queue.touch(project)

    def _models(self, job: Job) -> list[str]:
        board = self._board
        return [model for model in board.eligible.holders(job) if self._rules.is_conceivable(board, job, model)]

    def _find(self, job: Job) -> Exchange | None:
        key = self._board.eligible.shape(job), job.priority
        if key in self._hopeless:
            return None
        for standing in by_standing(self._board, job, self._models(job)):
            for model in standing:
                rules = self._rules(self._board, job, model)
                found = Search(rules, self._useful).find() if rules.has_protection() else None
                if found is not None:
                    return found
        self._hopeless.add(key)
        return None


def _stop_stale_gangs(board: Board, jobs: Iterable[Job]) -> None:
    told = {preempt.job for preempt in board.preempt}
    for job in sorted(jobs, key=lambda job: job.id):
        if job.id not in told and _is_stale(job, board.now - board.policy.member_lost_after_s):
            board.release(job, None)


def _is_stale(job: Job, before: float) -> bool:
    """A running gang that lost a member before this moment."""
    is_gang = job.state is JobState.RUNNING and job.ask.nodes > 1
    return is_gang and job.member_lost_at is not None and job.member_lost_at < before
