"""GPUs set aside by earlier decisions: who is still entitled to them, and what is free of them by now."""

from collections import defaultdict
from collections.abc import Iterable

import numpy as np

from scheduling.engine.board import Board, Chosen
from scheduling.engine.model import MILLI, Ask, Earmark, Job, JobState, NodeState, Snapshot
from scheduling.engine.room import Spot


def settle_earmarks(board: Board, snapshot: Snapshot) -> None:
    """Start owners whose set is complete; let those wait whose set will be; keep what others have so far.

    An earmark ends with its owner, when the quota no longer allows the owner, when the node is down, and when twice
    the grace time and a margin have passed.
    """
    _Settling(board, snapshot).run()


class _Settling:
    def __init__(self, board: Board, snapshot: Snapshot) -> None:
        self._board = board
        self._marks: dict[int, list[Earmark]] = defaultdict(list)
        for mark in sorted(snapshot.earmarks, key=lambda mark: (mark.job, mark.node)):
            self._marks[mark.job].append(mark)
        self._claimed: set[tuple[int, int]] = set()
        self._stopping: dict[int, list[Job]] = defaultdict(list)
        self._releasing: dict[int, int] = defaultdict(int)
        for job in snapshot.jobs:
            for node, devices in job.placement.items() if job.state is JobState.STOPPING else ():
                self._stopping[node].append(job)
                self._releasing[node] += sum(devices.values())

    def run(self) -> None:
        """Owners count one after the other, so that two do not fit the same quota. Whole GPUs are found first: what
        stops on them is no part for anybody else."""
        board = self._board
        entitled: list[tuple[Job, str]] = []
        for job in [job for job in board.waiting.values() if job.id in self._marks]:
            model = self._model(job)
            if model is not None:
                board.ledger.add(job, model, protects=not job.is_preemptible)
                entitled.append((job, model))
        for job, _model in sorted(entitled, key=lambda owner: owner[0].ask.milli < MILLI):
            board.keep(job, self._marks[job.id], list(self._free_part(job)))
        for job, model in entitled:
            board.ledger.remove(job, model)
            self._settle(job, model)

    def _settle(self, job: Job, model: str) -> None:
        """A start now needs quota beside what is still stopping, too; and what it takes besides its own must not be
        the reserve's."""
        board = self._board
        chosen = board.place(job, [model], board.own_room(job))
        is_kept = board.reserve.is_kept(job, model, board.held_milli(job))
        if chosen is not None and is_kept and not any(board.gates.of_quota(job, model)):
            board.begin(job, chosen)
        elif (later := chosen or self._later(job, model)) is not None:
            board.settle(job, later)

    def _model(self, job: Job) -> str | None:
        """The model that is set aside, if the owner may still have it."""
        board, marks = self._board, self._marks[job.id]
        rows = [row for mark in marks for row in board.room.rows_of(mark.node)]
        models = {board.room.models[int(board.room.row_model[row])] for row in rows} & set(board.eligible.holders(job))
        if not models or not board.projects[job.project].is_active or any(self._has_ended(mark) for mark in marks):
            return None
        model = min(models)
        return model if self._fits_quota(job, model) else None

    def _fits_quota(self, job: Job, model: str) -> bool:
        """What stops on its nodes stops for it, so that it counts no longer."""
        ledger = self._board.ledger
        gone = {stopping.id: stopping for mark in self._marks[job.id] for stopping in self._stopping[mark.node]}
        protected = ledger.protected_jobs & set(gone)
        for stopping in gone.values():
            ledger.remove(stopping, stopping.gpu_model)
        fits = not any(self._board.gates.of_quota(job, model))
        for stopping in gone.values():
            ledger.add(stopping, stopping.gpu_model, protects=stopping.id in protected)
        return fits

    def _has_ended(self, mark: Earmark) -> bool:
        board = self._board
        rows, policy = board.room.rows_of(mark.node), board.policy
        if not rows or board.room.nodes[rows[0]].state is NodeState.DOWN:
            return True
        return mark.since is not None and board.now - mark.since > 2 * policy.grace_s + policy.earmark_margin_s

    def _free_part(self, job: Job) -> Iterable[tuple[Spot, Ask]]:
        """Of each earmark, what is not on GPUs that are still being freed."""
        for mark in self._marks[job.id]:
            if job.ask.milli >= MILLI:
                yield from self._devices(mark)
            else:
                yield from self._part(mark, Ask(mark.milli, shares_device=job.ask.shares_device), job.project)

    def _devices(self, mark: Earmark) -> Iterable[tuple[Spot, Ask]]:
        """Whole GPUs: first those that will be wholly free, of which the free rest is held; then those that are."""
        room, wanted = self._board.room, mark.milli // MILLI
        freed = [freed for freed in self._freed(mark.node) if freed[0] not in self._claimed][:wanted]
        for (row, column), stopping in freed:
            self._claimed.add((row, column))
            self._releasing[mark.node] -= stopping
            if (rest := int(room.free[row, column])) > 0:
                yield Spot(row, (column,), rest, has_host=False), Ask(rest)
        wanted -= len(freed)
        for row in room.rows_of(mark.node):
            whole = np.flatnonzero(room.free[row] == MILLI).tolist()[:wanted]
            if whole:
                yield Spot(row, tuple(whole), MILLI, has_host=False), Ask(len(whole) * MILLI)
                wanted -= len(whole)

    def _freed(self, node: int) -> list[tuple[tuple[int, int], int]]:
        """Row and column of the devices that are wholly free once all that stops on the node has stopped, and what
        stops on each."""
        room = self._board.room
        stopping: dict[tuple[int, int], int] = defaultdict(int)
        for job in self._stopping[node]:
            for spot in self._board.spots[job.id]:
                for column in spot.columns:
                    stopping[spot.row, column] += spot.milli
        rows = room.rows_of(node)
        freed = [(place, milli) for place, milli in stopping.items() if place[0] in rows]
        return sorted((place, milli) for place, milli in freed if room.free[place] + milli == MILLI)

    def _part(self, mark: Earmark, part: Ask, project: int) -> Iterable[tuple[Spot, Ask]]:
        """A part of a GPU: nothing while as much is being freed; else on a device that it may join, or, so that it is
        not given away, on any that has as much left, or what is not being freed of it."""
        releasing = min(part.milli, self._releasing[mark.node])
        if releasing == part.milli:
            self._releasing[mark.node] -= releasing
            return
        room = self._board.room
        for row in room.rows_of(mark.node):
            if room.fits(part, project)[row]:
                yield room.spot(row, part, project), part
                return
        for milli in dict.fromkeys((part.milli, part.milli - releasing)):
            for row in room.rows_of(mark.node):
                enough = [(free, column) for column, free in enumerate(room.free[row].tolist()) if free >= milli]
                if enough:
                    self._releasing[mark.node] -= part.milli - milli
                    yield Spot(row, (min(enough)[1],), milli, has_host=False), Ask(milli)
                    return

    def _later(self, job: Job, model: str) -> Chosen | None:
        """Where it fits once what stops on its nodes is gone."""
        board, room = self._board, self._board.own_room(job).copy()
        gone: set[int] = set()
        for mark in self._marks[job.id]:
            for stopping in self._stopping[mark.node]:
                if stopping.id not in gone:
                    gone.add(stopping.id)
                    for spot in board.spots[stopping.id]:
                        room.give_back(spot, stopping.ask, stopping.project)
        return board.place(job, [model], room)
