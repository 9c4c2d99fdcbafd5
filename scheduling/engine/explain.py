"""Why each waiting job waits: the gates that are closed to it on the model where it is nearest to a start, what would
open them, and when that is expected."""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Hashable, Sequence

import numpy as np

from scheduling.engine.board import Board
from scheduling.engine.calendar import NEVER
from scheduling.engine.gates import Gate
from scheduling.engine.model import MILLI, Job, Wait
from scheduling.engine.reasons import (
    Refusal,
    backoff,
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


class _Why:
    """Jobs that are alike wait for the same reason, so each is worked out once."""

    def __init__(self, board: Board) -> None:
        self._board = board
        self._refusals: dict[Hashable, Refusal] = {}
        self._rooms: dict[Hashable, tuple[Gate, ...]] = {}
        self._ends: dict[str, dict[tuple[str, int], tuple[list[int], list[float]]]] = {}
        self._plans = {job: plan.start for job, plan in board.calendar.plans.all().items()}

    def wait(self, job: Job) -> Wait:
        refusal = self._own(job) or self._shared(job)
        until = self._plans.get(job.id, refusal.until)
        needs = refusal.needs if until == refusal.until else {**refusal.needs, "planned_start": until}
        return Wait(job.id, refusal.reason, refusal.text, needs, until)

    def _own(self, job: Job) -> Refusal | None:
        """Reasons of this very job."""
        board, project = self._board, self._board.projects[job.project]
        if not project.is_active:
            return project_state(project)
        if job.not_before is not None and job.not_before > board.now:
            return backoff(job.not_before)
        if job.id in board.settled:
            return releasing(board.now + board.policy.grace_s)
        return None

    def _shared(self, job: Job) -> Refusal:
        key = self._board.eligible.shape(job)
        if key not in self._refusals:
            self._refusals[key] = self._refusal(job)
        return self._refusals[key]

    def _refusal(self, job: Job) -> Refusal:
        board, project = self._board, self._board.projects[job.project]
        if not board.eligible.models(job):
            return no_quota(job, project)
        holders = board.eligible.holders(job)
        if not holders:
            return no_such_node(job, board.eligible.models(job))
        gates = {model: [*board.closed(job, model), *self._room(job, model)] for model in holders}
        model = next(iter(gates))
        if len(gates) > 1:
            model = min(gates, key=lambda name: (_distance(gates[name]), len(gates[name]), name))
        found = sorted(gates[model], key=lambda gate: -_NEARNESS[gate.kind])
        if not found:
            return next_decision(job, model, board.now)
        return closed(job, project, model, found, self._until(model, found))

    def _until(self, model: str, gates: Sequence[Gate]) -> float | None:
        """When the last of the gates opens by itself; None if nobody can say of one."""
        latest = max([gate.until if gate.until is not None else self._opens(model, gate) for gate in gates])
        return latest if latest < NEVER else None

    def _opens(self, model: str, gate: Gate) -> float:
        """When enough of the jobs that fill a guarantee or limit end."""
        if gate.kind not in ("guarantee", "limit"):
            return NEVER
        if model not in self._ends:
            self._ends[model] = self._ends_on(model)
        sums, ends = self._ends[model][gate.kind, gate.party]
        place = bisect_left(sums, gate.missing)
        return ends[place] if place < len(ends) else NEVER

    def _ends_on(self, model: str) -> dict[tuple[str, int], tuple[list[int], list[float]]]:
        """By kind of gate and party: ends in order, and what has ended up to each."""
        board = self._board
        found: dict[tuple[str, int], tuple[list[int], list[float]]] = defaultdict(lambda: ([], []))
        for end, job in board.calendar.ends(model):
            if end == NEVER:
                break
            kinds = ("limit", "guarantee") if job.id in board.ledger.protected_jobs else ("limit",)
            for key in ((kind, party.index) for kind in kinds for party in board.parties.chain[job.project]):
                sums, ends = found[key]
                sums.append(job.ask.total_milli + (sums[-1] if sums else 0))
                ends.append(end)
        return found

    def _room(self, job: Job, model: str) -> tuple[Gate, ...]:
        """What lacks besides quota: nodes that take jobs, room on them, or a plan that must not move."""
        board = self._board
        key = board.eligible.room_shape(job), model, job.max_runtime_s, job.avoid
        if job.id in board.earmarks or key not in self._rooms:
            found = _RoomGates(board, job, model).find()
            if job.id in board.earmarks:
                return found
            self._rooms[key] = found
        return self._rooms[key]


def _distance(gates: Sequence[Gate]) -> int:
    return max((_NEARNESS[gate.kind] for gate in gates), default=-1)


class _RoomGates:
    """Of one job on one model."""

    def __init__(self, board: Board, job: Job, model: str) -> None:
        self._board = board
        self._job = job
        self._model = model

    def find(self) -> tuple[Gate, ...]:
        board, job, room = self._board, self._job, self._board.room
        rows = board.eligible.rows(job) & board.eligible.is_model(self._model)
        able = rows & room.could_hold(job.ask) & room.can_take
        if (count := int(able.sum())) < job.ask.nodes:
            return (Gate("node_state", job.ask.nodes - count, bound=job.ask.nodes, used=count),)
        if board.has_place(job, self._model, board.own_room(job)):
            return ()
        plans = board.calendar.respected(job).plans
        if plans and board.has_place(job, self._model, room):
            first = min(plans, key=lambda plan: (plan.start, plan.job.id))
            return (Gate("behind_plan", 0, party=first.job.id, until=first.start),)
        plan = board.earliest(job, [self._model])
        return (self._lack(np.flatnonzero(able), plan.start if plan else NEVER),)

    def _lack(self, rows: np.ndarray, until: float) -> Gate:
        """The nodes where least is missing."""
        ask, room = self._job.ask, self._board.room
        devices = np.maximum(0, ask.devices - room.whole[rows])
        cpus = np.maximum(0, ask.cpus - room.cpus[room.host[rows]])
        memory = np.maximum(0, ask.memory_bytes - room.memory[room.host[rows]])
        order = np.lexsort((rows, memory, cpus, devices))[: ask.nodes]
        nodes = tuple(
            (room.nodes[int(rows[at])].name, int(devices[at]), int(cpus[at]), int(memory[at])) for at in order
        )
        return Gate("no_room", sum(node[1] for node in nodes) * MILLI, nodes=nodes, until=until)
