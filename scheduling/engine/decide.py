"""First in, first out inside the quota.

Jobs are taken by the time they came into the queue. A job starts if its project is active, its quota allows it on
a model, and there is room for the whole of it. What a quota refuses holds nobody back; a job that only lacks room
holds back the later ones of the same project and model.
"""

from datetime import datetime

from scheduling.engine.model import Decision, Policy, Project, QueuedJob, Snapshot, Start, Wait
from scheduling.engine.placement import Room
from scheduling.engine.quota import Ledger
from scheduling.engine.reasons import Refusal, backoff, behind, nearest, no_quota, no_room, project_state


def decide(snapshot: Snapshot, now: datetime, policy: Policy) -> Decision:
    """What starts now, where, and why everything else waits. Deterministic; the snapshot is not changed."""
    round_ = _Round(snapshot, policy)
    starts: list[Start] = []
    waits: list[Wait] = []
    for job in sorted(snapshot.queue, key=lambda queued: (queued.queued_at, queued.id)):
        project = snapshot.projects[job.project]
        outcome = _unready(job, project, now) or round_.offer(job, project)
        if isinstance(outcome, Start):
            starts.append(outcome)
        else:
            waits.append(Wait(job.id, outcome.reason, outcome.text, outcome.needs, outcome.until))
    return Decision(tuple(starts), tuple(waits))


def _unready(job: QueuedJob, project: Project, now: datetime) -> Refusal | None:
    """What keeps the job from starting wherever there is room."""
    if not project.is_active:
        return project_state(project)
    if job.not_before is not None and job.not_before > now:
        return backoff(job.not_before)
    return None


class _Round:
    """One decision in progress: what is still free, what is used, and who waits first for room."""

    def __init__(self, snapshot: Snapshot, policy: Policy) -> None:
        self._room = Room(snapshot.nodes)
        self._ledger = Ledger(snapshot)
        self._policy = policy
        self._first: dict[tuple[int, str], QueuedJob] = {}
        """By project and model: the first job that only lacks room there."""

    def offer(self, job: QueuedJob, project: Project) -> Start | Refusal:
        """Start the job on the first model, by name, that takes it; or the refusal nearest to a start."""
        models = self._ledger.models(job)
        if not models:
            return no_quota(job, project)
        refusals: list[Refusal] = []
        for model in models:
            refusal = self._refusal(job, project, model)
            if refusal is None:
                placement = self._room.place(job, project, model)
                if placement is not None:
                    self._ledger.add(job, model)
                    return Start(job.id, model, placement)
                refusal = no_room(job, model, self._room.count(job, project, model))
            refusals.append(refusal)
        self._hold(job, models, refusals)
        return nearest(refusals)

    def _refusal(self, job: QueuedJob, project: Project, model: str) -> Refusal | None:
        refusal = self._ledger.refusal(job, project, model)
        first = self._first.get((project.id, model))
        return behind(first) if refusal is None and first is not None else refusal

    def _hold(self, job: QueuedJob, models: list[str], refusals: list[Refusal]) -> None:
        """Let nobody of the same project pass on the models where this job only lacks room."""
        for model, refusal in zip(models, refusals, strict=True):
            if self._policy.has_strict_order and refusal.reason == "no_room":
                self._first.setdefault((job.project, model), job)
