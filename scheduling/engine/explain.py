"""Why each waiting job waits: the gates that are closed to it on the model where it is nearest to a start, what would
open them, and when that is expected."""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace

from scheduling.engine.board import Board
from scheduling.engine.calendar import NEVER
from scheduling.engine.gates import Gate
from scheduling.engine.lacks import RoomGates
from scheduling.engine.model import Job, Wait
from scheduling.engine.reasons import (
    Refusal,
    backoff,
    besides,
    closed,
    next_decision,
    no_quota,
    no_such_node,
    project_state,
    releasing,
)

_KINDS = ("behind_plan", "no_room", "node_state", "window", "reserve", "guarantee", "limit", "resource")
_NEARNESS = {kind: at for at, kind in enumerate(_KINDS)}
"""Of several models, the one whose farthest closed gate comes first here is the one that is explained."""


def explain(board: Board) -> tuple[Wait, ...]:
    """One for each waiting job, by id. After all actions: it says what is closed in the end."""
    why = _Why(board)
    return tuple(why.wait(job) for _id, job in sorted(board.waiting.items()))


@dataclass(frozen=True, slots=True)
class _Found:
    """What is closed to jobs that are alike, on the model where they are nearest to a start. ``can_start``: it is
    nothing but gates, so that a moment may be known at which they are open."""

    refusal: Refusal
    model: str
    gates: tuple[Gate, ...] = ()
    can_start: bool = True


class _Why:
    """Jobs that are alike wait for the same reason, so each is worked out once."""

    def __init__(self, board: Board) -> None:
        self._board = board
        self._found: dict[Hashable, _Found] = {}
        self._rooms: dict[Hashable, tuple[Gate, ...]] = {}
        self._ends: dict[str, dict[tuple[str, int], tuple[list[int], list[float]]]] = {}
        plans, room = board.calendar.plans.all().items(), board.room
        models = {job: room.models[int(room.row_model[plan.spots[0].row])] for job, plan in plans}
        self._plans = {job: (models[job], plan.start) for job, plan in plans}

    def wait(self, job: Job) -> Wait:
        board = self._board
        if job.id in board.settled:
            refusal = releasing(board.now + board.policy.grace_s)
            return Wait(job.id, refusal.reason, refusal.text, refusal.needs, refusal.until)
        found, own = self._alike(job), self._own(job)
        refusal, until = found.refusal, found.refusal.until
        if own is not None:
            refusal = besides(own, refusal) if found.gates or not found.can_start else own
            until = self._until(job, found, own.until)
        elif job.id in self._plans:
            until = self._until(job, found, board.now)
        planned_on, _start = self._plans.get(job.id, (None, NEVER))
        planned = {"planned_start": until} if until is not None and planned_on == found.model else {}
        return Wait(job.id, refusal.reason, refusal.text, {**refusal.needs, **planned}, until)

    def _own(self, job: Job) -> Refusal | None:
        """Reasons of this very job."""
        project = self._board.projects[job.project]
        if not project.is_active:
            return project_state(project)
        if job.not_before is not None and job.not_before > self._board.now:
            return backoff(job.not_before)
        return None

    def _alike(self, job: Job) -> _Found:
        if self._is_alone(job):
            return self._find(job)
        key = self._board.eligible.shape(job)
        if key not in self._found:
            self._found[key] = self._find(job)
        return self._found[key]

    def _is_alone(self, job: Job) -> bool:
        """Whether it sees another room than jobs like it: it has GPUs set aside, or a plan of its own."""
        return job.id in self._board.earmarks or job.id in self._plans

    def _find(self, job: Job) -> _Found:
        board, project = self._board, self._board.projects[job.project]
        allowed = board.eligible.allowed(job)
        if not allowed and project.gpu_models is not None:
            return _Found(no_quota(job, project), "", can_start=False)
        holders = board.eligible.holders(job)
        gates = {model: [*board.closed(job, model), *self._room(job, model)] for model in holders}
        gates = gates or {model: board.closed(job, model) for model in allowed}
        model = min(gates, key=lambda name: (_distance(gates[name]), len(gates[name]), name), default="")
        found = sorted(gates.get(model, ()), key=lambda gate: -_NEARNESS[gate.kind])
        if not holders:
            return _Found(no_such_node(job, project, allowed, model, found), model, tuple(found), can_start=False)
        if not found:
            return _Found(next_decision(job, model, board.now), model)
        unsaid = _Found(closed(job, project, model, found), model, tuple(found))
        return replace(unsaid, refusal=replace(unsaid.refusal, until=self._until(job, unsaid, board.now)))

    def _until(self, job: Job, found: _Found, start: float | None) -> float | None:
        """When the last of the gates opens by itself, not before ``start``; None if nobody can say of one."""
        if start is None or not found.can_start:
            return None
        gates = [gate for gate in found.gates if gate.kind not in ("window", "reserve")]
        moment = max([start, *(self._opens(job, found.model, gate) for gate in gates)])
        windows, ahead, before = self._board.windows, self._board.ahead, -NEVER
        while before < moment < NEVER:
            before, moment = moment, ahead.kept_from(job, found.model, windows.opens(job, found.model, moment))
        return moment if moment < NEVER else None

    def _opens(self, job: Job, model: str, gate: Gate) -> float:
        """When time opens the gate: of a guarantee or limit, when enough of the jobs that fill it end."""
        if gate.kind in ("no_room", "behind_plan"):
            planned, start = self._plans.get(job.id, ("", NEVER))
            return start if planned == model else NEVER if gate.until is None else gate.until
        if gate.kind not in ("guarantee", "limit"):
            return NEVER if gate.until is None else gate.until
        if model not in self._ends:
            self._ends[model] = self._ends_on(model)
        sums, ends = self._ends[model][gate.kind, gate.party]
        place = bisect_left(sums, gate.missing)
        return ends[place] if place < len(ends) else NEVER

    def _ends_on(self, model: str) -> dict[tuple[str, int], tuple[list[int], list[float]]]:
        """By kind of gate and party: ends in order, and what has ended up to each. Victims do not count any more."""
        board = self._board
        found: dict[tuple[str, int], tuple[list[int], list[float]]] = defaultdict(lambda: ([], []))
        for end, job in board.calendar.ends(model):
            if end == NEVER:
                break
            if job.id in self._board.told:
                continue
            kinds = ("limit",) if job.is_preemptible else ("limit", "guarantee")
            for key in ((kind, party.index) for kind in kinds for party in board.parties.chain[job.project]):
                sums, ends = found[key]
                sums.append(job.ask.total_milli + (sums[-1] if sums else 0))
                ends.append(end)
        return found

    def _room(self, job: Job, model: str) -> tuple[Gate, ...]:
        """What lacks besides quota: nodes that take jobs, room on them, or a plan that must not move."""
        board = self._board
        if self._is_alone(job):
            return RoomGates(board, job, model).find()
        key = board.eligible.room_shape(job), model, job.max_runtime_s, job.avoid
        if key not in self._rooms:
            self._rooms[key] = RoomGates(board, job, model).find()
        return self._rooms[key]


def _distance(gates: Sequence[Gate]) -> int:
    return max((_NEARNESS[gate.kind] for gate in gates), default=-1)
