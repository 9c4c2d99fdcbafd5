"""Who runs on GPUs that nobody promised them, and what they lose when more is promised to another. Pure.

Victims come in the scheduler's order: least rank, then the project most above what it is guaranteed, then lowest
priority, least work lost, most recently started. The scheduler measures from the share, which is the guarantee and
what it gets of the idle GPUs; this looks at one moment and measures from the guarantee.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from scheduling.engine import MILLI


@dataclass(frozen=True, slots=True)
class Running:
    """A job on GPUs of the model. ``lost_s``: seconds since its last checkpoint or its start, None: not known."""

    id: int
    milli: int
    is_preemptible: bool
    priority: int = 0
    lost_s: float | None = None
    started_order: int = 0
    """Larger: started later."""

    @property
    def order(self) -> tuple[float, ...]:
        lost = 0.0 if self.lost_s is None else self.milli * self.lost_s
        return (self.priority, lost, -self.started_order, self.id)


@dataclass(frozen=True, slots=True)
class Project:
    """One project on one GPU model. ``rank``: as the scheduler ranks its tier."""

    id: int
    rank: int
    guaranteed: int
    jobs: tuple[Running, ...]

    @property
    def used_milli(self) -> int:
        return sum(job.milli for job in self.jobs)

    @property
    def above_milli(self) -> int:
        return max(0, self.used_milli - self.guaranteed * MILLI)


@dataclass(frozen=True, slots=True)
class Loss:
    """What one project borrows now and after, in GPUs (parts of one possible), and its jobs that would stop."""

    project_id: int
    guaranteed: int
    borrows: float
    after: float
    stopped: tuple[Running, ...] = ()

    @property
    def difference(self) -> float:
        return self.after - self.borrows

    @property
    def stopped_gpus(self) -> float:
        return sum(job.milli for job in self.stopped) / MILLI


@dataclass(frozen=True, slots=True)
class Lending:
    """``needed``: GPUs that must come from others; ``unmet``: those that no job may be stopped for."""

    losses: tuple[Loss, ...]
    needed: float
    unmet: float

    @property
    def losers(self) -> tuple[Loss, ...]:
        return tuple(loss for loss in self.losses if loss.difference < 0)

    @property
    def stopped_jobs(self) -> int:
        return sum(len(loss.stopped) for loss in self.losses)

    @property
    def stopped_gpus(self) -> float:
        return sum(loss.stopped_gpus for loss in self.losses)

    @property
    def borrowed(self) -> float:
        return sum(loss.borrows for loss in self.losses)

    @property
    def borrowed_after(self) -> float:
        return sum(loss.after for loss in self.losses)

    @property
    def difference(self) -> float:
        return self.borrowed_after - self.borrowed


def lending(projects: Sequence[Project], free_milli: int, asker_id: int, asked: int) -> Lending:
    """What happens to the others if the asker takes all of ``asked`` (its new guarantee) at the present use.

    Whole jobs stop, so that a project may lose more than is needed; who is not needed after all is spared, from the
    last one back, as the scheduler does it.
    """
    own = next((project.used_milli for project in projects if project.id == asker_id), 0)
    missing = max(0, asked * MILLI - own - max(0, free_milli))
    others = {project.id: project for project in projects if project.id != asker_id}
    victims = _spared(_victims(others, missing), missing)
    losses = [_loss(others[pk], victims) for pk in others if others[pk].above_milli]
    losses.sort(key=lambda loss: (loss.difference >= 0, -others[loss.project_id].rank, -loss.borrows, loss.project_id))
    freed = sum(job.milli for _project, job in victims)
    return Lending(tuple(losses), missing / MILLI, max(0, missing - freed) / MILLI)


def _victims(projects: dict[int, Project], missing: int) -> list[tuple[int, Running]]:
    left, taken, freed = dict(projects), list[tuple[int, Running]](), 0
    while freed < missing:
        able = [row for row in left.values() if row.above_milli and any(job.is_preemptible for job in row.jobs)]
        if not able:
            break
        row = min(able, key=lambda project: (project.rank, -project.above_milli, project.id))
        job = min((job for job in row.jobs if job.is_preemptible), key=lambda found: found.order)
        left[row.id] = replace(row, jobs=tuple(other for other in row.jobs if other.id != job.id))
        taken.append((row.id, job))
        freed += job.milli
    return taken


def _spared(taken: list[tuple[int, Running]], missing: int) -> list[tuple[int, Running]]:
    kept, freed = list(taken), sum(job.milli for _project, job in taken)
    for victim in reversed(taken):
        if freed - victim[1].milli >= missing:
            kept.remove(victim)
            freed -= victim[1].milli
    return kept


def _loss(project: Project, victims: Sequence[tuple[int, Running]]) -> Loss:
    stopped = tuple(job for pk, job in victims if pk == project.id)
    after = max(0, project.used_milli - sum(job.milli for job in stopped) - project.guaranteed * MILLI)
    return Loss(project.id, project.guaranteed, project.above_milli / MILLI, after / MILLI, stopped)
