"""From an instance to its plan: bounds, fair shares, least movement, whole GPUs, and the reasons for each."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from quotas.engine.errors import OutOfTime, Unsolved
from quotas.engine.fairness import fair_shares, level_of
from quotas.engine.floors import Bounds, bounds_of
from quotas.engine.greedy import gap_to_bound, greedy
from quotas.engine.instance import Instance
from quotas.engine.movement import least_movement
from quotas.engine.overload import OverloadProgram
from quotas.engine.plan import Churn, Fairness, ModelUse, Plan, ProjectShare, Quota, Status, written
from quotas.engine.program import program_of
from quotas.engine.reasons import Answer, reasons_of, summary_of
from quotas.engine.rounding import Rounded, round_down_and_hand_out

_SEEN = 1e-6
"""A fair share below this is nothing, so no part of it is foregone."""


@dataclass(frozen=True, slots=True)
class Warm:
    """What a solve leaves for the next one of nearly the same instance. It changes the time, never the answer."""

    prices: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Solved:
    plan: Plan
    warm: Warm


def _never() -> bool:
    return False


def solve(
    instance: Instance, *, sha256: str = "", warm: Warm | None = None, is_late: Callable[[], bool] = _never
) -> Solved:
    """The plan of the instance, as docs/allocation.md defines it. Deterministic; never an exception for a valid
    instance.

    ``is_late`` is asked between steps; once it says yes the plan is greedy, with status ``feasible`` and its gap to
    the bound. ``sha256`` is the digest of the instance's document, kept in the plan.
    """
    bounds = bounds_of(instance)
    program, tolerance = program_of(instance, bounds), instance.rules.churn_tolerance
    start = np.array(warm.prices) if warm and len(warm.prices) == program.models and any(warm.prices) else None
    try:
        lp = OverloadProgram(program, is_late)
        shares = fair_shares(program, lp, tolerance, start=start)
        moved = least_movement(program, shares.effective, tolerance, is_late=is_late)
        rounded, gap = round_down_and_hand_out(program, moved.gpus, moved.entitlement), None
    except (OutOfTime, Unsolved):
        shares, moved, rounded = greedy(program)
        gap = gap_to_bound(program, program.effective(rounded.gpus))
    plan = _Writing(Answer(instance, program, shares, moved, rounded.gpus), bounds, rounded, gap).plan(sha256)
    return Solved(plan, Warm(tuple(shares.prices.tolist())))


@dataclass(frozen=True, slots=True)
class _Writing:
    """The plan's rows from what was found."""

    answer: Answer
    bounds: Bounds
    rounded: Rounded
    gap: float | None

    def plan(self, sha256: str) -> Plan:
        projects = self.answer.instance.projects
        return Plan(
            status=self._status(),
            instance_sha256=sha256,
            quotas=tuple(self._quotas()),
            projects=self._shares(),
            models=self._models(),
            relaxed_floors=self.bounds.relaxed,
            churn=self._churn(),
            fairness=self._fairness(),
            exceptions=tuple(projects[place].id for place in self.rounded.exceptions),
            gap=None if self.gap is None else written(self.gap),
        )

    def _status(self) -> Status:
        if self.bounds.relaxed:
            return Status.INFEASIBLE_FLOORS
        return Status.OPTIMAL if self.gap is None else Status.FEASIBLE

    def _quotas(self) -> list[Quota]:
        instance, program = self.answer.instance, self.answer.program
        rows = []
        for pair, given in enumerate(self.answer.gpus.tolist()):
            project = instance.projects[program.project[pair]]
            name = instance.gpu_models[program.model[pair]].name
            gpus, ask = int(given), project.models[name]
            is_owed = instance.rules.guarantee[project.tier]
            guaranteed = gpus if is_owed else min(gpus, int(program.least[pair]))
            limit = max(ask.max, gpus)
            if limit:
                rows.append(Quota(project.id, name, gpus, guaranteed, limit))
        return rows

    def _shares(self) -> tuple[ProjectShare, ...]:
        answer = self.answer
        effective = answer.program.effective(answer.gpus)
        level, reasons = level_of(answer.program, effective), reasons_of(answer)
        return tuple(
            ProjectShare(
                project=project.id,
                level=written(level[place]),
                exact_level=written(answer.shares.level[place]),
                entitlement=written(answer.program.scale[place] * answer.moved.entitlement[place]),
                effective=written(answer.program.scale[place] * effective[place]),
                summary=summary_of(answer, place),
                reasons=reasons[place],
            )
            for place, project in enumerate(answer.instance.projects)
        )

    def _models(self) -> tuple[ModelUse, ...]:
        answer = self.answer
        given, price = answer.program.by_model(answer.gpus).tolist(), answer.shares.first_prices()
        return tuple(
            ModelUse(model.name, model.usable, int(given[place]), written(price[place]))
            for place, model in enumerate(answer.instance.gpu_models)
        )

    def _churn(self) -> Churn:
        program, shares, moved = self.answer.program, self.answer.shares, self.answer.moved
        change = self.answer.gpus - program.previous
        has = shares.effective > _SEEN
        foregone = float((1.0 - moved.entitlement[has] / shares.effective[has]).max(initial=0.0))
        used = min(max(0.0, foregone), self.answer.instance.rules.churn_tolerance)
        taken = float(np.maximum(0.0, -change).sum())
        return Churn(int(np.abs(change).sum()), int(taken), written(used))

    def _fairness(self) -> Fairness:
        program, can = self.answer.program, self.answer.program.full > 0
        if not can.any():
            return Fairness(None, None, None)
        level = level_of(program, program.effective(self.answer.gpus))[can]
        exact = self.answer.shares.level[can]
        return Fairness(written(exact.min()), written(level.min()), written(float(np.percentile(level, 10))))
