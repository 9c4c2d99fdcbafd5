"""The jobs of a replay as the engine sees them: queued, running, stopping, and what each has done so far."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from scheduling.engine.model import MILLI, NONE, Job, JobState, Start
from scheduling.engine.replay.workload import WorkJob

DAY_S = 86_400


@dataclass(slots=True)
class Life:
    """What a job did so far. ``saved_s``: work behind its last checkpoint, of the runs that are over. ``run``: how
    often it was started; what was foreseen for an earlier run is void."""

    work: WorkJob
    job: Job
    first_started_at: float | None = None
    ended_at: float | None = None
    saved_s: float = 0
    run: int = 0
    interrupted: dict[int, int] = field(default_factory=dict)
    """Interruptions by day."""

    def begin(self, start: Start, now: float, sequence: int) -> None:
        self.run += 1
        self.first_started_at = now if self.first_started_at is None else self.first_started_at
        self.job = replace(
            self.job,
            state=JobState.RUNNING,
            gpu_model=start.gpu_model,
            placement=start.placement,
            started_at=now,
            order=sequence,
            interruptions_today=self.interrupted.get(int(now // DAY_S), 0),
        )

    def ends_at(self, now: float) -> float | None:
        """When this run ends if nobody stops it: by its work or by its max runtime."""
        bounds = [] if self.work.duration_s is None else [self.work.duration_s - self.saved_s]
        if self.work.max_runtime_s is not None:
            bounds.append(self.work.max_runtime_s)
        return now + min(bounds) if bounds else None

    def stop(self, now: float, interval_s: float | None) -> None:
        """From here it does no more work; what it did since its last checkpoint is lost."""
        self.saved_s += self.saved_in_run(now, interval_s)
        day = int(now // DAY_S)
        self.interrupted[day] = self.interrupted.get(day, 0) + 1
        self.job = replace(self.job, state=JobState.STOPPING)

    def lost_gpu_seconds(self, signalled_at: float, now: float, interval_s: float | None) -> float:
        """Held since the last checkpoint before the signal, until the GPUs came free."""
        held = now - (self.job.started_at or 0) - self.saved_in_run(signalled_at, interval_s)
        return held * self.job.ask.total_milli / MILLI

    def saved_in_run(self, now: float, interval_s: float | None) -> float:
        if interval_s is None or self.job.started_at is None:
            return 0
        return (now - self.job.started_at) // interval_s * interval_s

    def queue_again(self, now: float) -> None:
        """At its old place."""
        self.job = replace(
            self.job,
            state=JobState.QUEUED,
            gpu_model="",
            placement=NONE,
            started_at=None,
            last_checkpoint_at=None,
            order=self.work.order,
            interruptions_today=self.interrupted.get(int(now // DAY_S), 0),
        )

    def at(self, now: float, interval_s: float | None) -> Job:
        """As the engine shall see it now: checkpoints and the count of the day move with time."""
        job, today = self.job, self.interrupted.get(int(now // DAY_S), 0)
        saved = self.saved_in_run(now, interval_s) if job.state is JobState.RUNNING else 0
        checkpoint = job.started_at + saved if saved and job.started_at is not None else job.last_checkpoint_at
        if today == job.interruptions_today and checkpoint == job.last_checkpoint_at:
            return job
        self.job = replace(job, interruptions_today=today, last_checkpoint_at=checkpoint)
        return self.job


def lives_of(jobs: Iterable[WorkJob], numbers: Mapping[str, int], projects: Mapping[str, int]) -> dict[int, Life]:
    return {
        numbers[work.name]: Life(
            work,
            Job(
                id=numbers[work.name],
                name=work.name,
                project=projects[work.project],
                ask=work.ask,
                priority=work.priority,
                is_preemptible=work.is_preemptible,
                queued_at=work.submitted_at,
                order=work.order,
                max_runtime_s=work.max_runtime_s,
                min_runtime_s=work.min_runtime_s,
            ),
        )
        for work in jobs
    }
