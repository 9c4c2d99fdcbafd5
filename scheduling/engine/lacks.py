"""What room lacks for a job on one model: nodes that take jobs, something on them, or a plan that must not move."""

from collections.abc import Iterable, Sequence

import numpy as np

from scheduling.engine.board import Board
from scheduling.engine.calendar import NEVER
from scheduling.engine.gates import Gate, NodeLack
from scheduling.engine.model import MILLI, Job
from scheduling.engine.room import Bools, Room
from scheduling.engine.views import Hold


class RoomGates:
    """Of one job on one model, whatever its quota."""

    def __init__(self, board: Board, job: Job, model: str) -> None:
        self._board = board
        self._job = job
        self._model = model
        self._room: Room = board.own_room(job) if job.id in board.earmarks else board.room

    def find(self) -> tuple[Gate, ...]:
        board, job, room = self._board, self._job, self._board.room
        rows = board.eligible.rows(job) & board.eligible.is_model(self._model) & room.could_hold(job.ask)
        able = rows & room.can_take
        if int(able.sum()) < job.ask.nodes:
            return tuple(self._too_few(able, rows & ~able))
        if board.has_place(job, self._model, board.own_room(job)):
            moved = board.spares.delayed(job, self._model)
            return (_behind(moved),) if moved is not None else ()
        plans = board.calendar.respected(job).plans
        if plans and board.has_place(job, self._model, room):
            return (_behind(self._delayed(plans)),)
        plan = board.earliest(job, [self._model])
        return (_no_room(self._lacks(able, job.ask.nodes), plan.start if plan else NEVER),)

    def _too_few(self, able: Bools, others: Bools) -> Iterable[Gate]:
        """The nodes that would have to take jobs, and what lacks on them and on the others."""
        job, count = self._job, int(able.sum())
        more = self._lacks(others, job.ask.nodes - count)
        names = tuple(NodeLack(lack.node, 0, 0, 0, is_taken=False) for lack in more)
        yield Gate("node_state", job.ask.nodes - count, bound=job.ask.nodes, used=count, nodes=names)
        lacking = [*self._lacks(able, count), *more]
        if not all(lack.is_nothing for lack in lacking):
            yield _no_room(lacking, NEVER)

    def _delayed(self, plans: Sequence[Hold]) -> Hold:
        """The first plan that a start of the job would delay: it has a place beside those that begin before."""
        ordered = sorted(plans, key=lambda plan: (plan.start, plan.job.id))
        fits, delays = 0, len(ordered)
        while delays - fits > 1:
            middle = (fits + delays) // 2
            if self._has_place_before(ordered[middle].start):
                fits = middle
            else:
                delays = middle
        return ordered[fits]

    def _has_place_before(self, moment: float) -> bool:
        """Beside the plans that begin before this moment."""
        view = self._board.calendar.plans.view(moment, self._job)
        return self._board.has_place(self._job, self._model, self._board.room if view is None else view)

    def _lacks(self, mask: Bools, count: int) -> list[NodeLack]:
        """Of the rows where least lacks."""
        ask, room, rows = self._job.ask, self._room, np.flatnonzero(mask)
        host = room.host[rows]
        devices = np.maximum(0, ask.devices - room.whole[rows])
        if 0 < ask.milli < MILLI:
            devices[[bool(room.parts(int(row), ask, self._job.project)) for row in rows]] = 0
        cpus, memory = np.maximum(0, ask.cpus - room.cpus[host]), np.maximum(0, ask.memory_bytes - room.memory[host])
        is_taken = room.are_alone(rows) | (ask.is_exclusive & (room.members[host] > 0))
        return [
            NodeLack(
                room.nodes[int(rows[at])].name, int(devices[at]), int(cpus[at]), int(memory[at]), bool(is_taken[at])
            )
            for at in np.lexsort((rows, memory, cpus, devices, is_taken))[:count]
        ]


def _no_room(lacks: Sequence[NodeLack], until: float) -> Gate:
    nodes = tuple(lack for lack in lacks if not lack.is_nothing)
    return Gate("no_room", sum(lack.devices for lack in nodes) * MILLI, nodes=nodes, until=until)


def _behind(plan: Hold) -> Gate:
    return Gate("behind_plan", 0, name=plan.job.name, party=plan.job.id, until=plan.start)
