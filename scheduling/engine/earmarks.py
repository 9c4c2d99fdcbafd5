"""GPUs set aside by earlier decisions: who is still entitled to them, and what is free of them by now."""

from collections import defaultdict
from collections.abc import Iterable

import numpy as np

from scheduling.engine.board import Board
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
        self._stopping: dict[int, list[Job]] = defaultdict(list)
        self._releasing: dict[int, int] = defaultdict(int)
        for job in snapshot.jobs:
            for node, devices in job.placement.items() if job.state is JobState.STOPPING else ():
                self._stopping[node].append(job)
                self._releasing[node] += sum(devices.values())

    def run(self) -> None:
        """Owners count one after the other, so that two do not fit the same quota."""
        board = self._board
        entitled: list[tuple[Job, str]] = []
        for job in [job for job in board.waiting.values() if job.id in self._marks]:
            model = self._model(job)
            if model is not None:
                board.keep(job, self._marks[job.id], list(self._free_part(job)))
                board.ledger.add(job, model, protects=not job.is_preemptible)
                entitled.append((job, model))
        for job, model in entitled:
            board.ledger.remove(job, model)
            self._settle(job, model)

    def _settle(self, job: Job, model: str) -> None:
        """A start now needs quota beside what is still stopping, too."""
        board = self._board
        chosen = board.place(job, [model], board.own_room(job))
        if chosen is not None and not any(board.gates.of_quota(job, model)):
            board.begin(job, chosen)
        elif chosen is not None or self._will_suffice(job, model):
            board.settle(job, model)

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
        """Of each earmark, what is not on GPUs that are still being freed: first the rest of devices that are partly
        so, then what is wholly free, then a part."""
        room = self._board.room
        for mark in self._marks[job.id]:
            releasing = min(mark.milli, self._releasing[mark.node])
            self._releasing[mark.node] -= releasing
            milli = mark.milli - releasing
            for row, column in self._partly_freed(mark.node) if job.ask.milli >= MILLI else ():
                rest = min(milli, int(room.free[row, column]))
                if rest > 0:
                    yield Spot(row, (column,), rest, has_host=False), Ask(rest)
                    milli -= rest
            for row in room.rows_of(mark.node):
                whole = np.flatnonzero(room.free[row] == MILLI).tolist()[: milli // MILLI]
                if whole:
                    yield Spot(row, tuple(whole), MILLI, has_host=False), Ask(len(whole) * MILLI)
                    milli -= len(whole) * MILLI
                part = Ask(milli, shares_device=job.ask.shares_device)
                if 0 < milli < MILLI and (spot := self._part(row, part, job.project)):
                    yield spot, part
                    milli = 0

    def _part(self, row: int, part: Ask, project: int) -> Spot | None:
        """A device that it may join; else, so that it is not given away, any that has as much left."""
        room = self._board.room
        if room.fits(part, project)[row]:
            return room.spot(row, part, project)
        enough = [(free, column) for column, free in enumerate(room.free[row].tolist()) if free >= part.milli]
        return Spot(row, (min(enough)[1],), part.milli, has_host=False) if enough else None

    def _partly_freed(self, node: int) -> list[tuple[int, int]]:
        """Row and column of devices of which a stopping job holds a part."""
        spots = [spot for stopping in self._stopping[node] for spot in self._board.spots[stopping.id]]
        rows = self._board.room.rows_of(node)
        return sorted({(s.row, column) for s in spots if s.row in rows and s.milli < MILLI for column in s.columns})

    def _will_suffice(self, job: Job, model: str) -> bool:
        """Whether it fits once what stops on its nodes is gone."""
        board, room = self._board, self._board.own_room(job).copy()
        gone: set[int] = set()
        for mark in self._marks[job.id]:
            for stopping in self._stopping[mark.node]:
                if stopping.id not in gone:
                    gone.add(stopping.id)
                    for spot in board.spots[stopping.id]:
                        room.give_back(spot, stopping.ask, stopping.project)
        return bool(gone) and board.place(job, [model], room) is not None
