"""Whose job is considered next: the project by use and share, inside it by priority and time."""

import heapq
from collections import defaultdict
from collections.abc import Iterable, Iterator

from scheduling.engine.board import Board
from scheduling.engine.calendar import NEVER
from scheduling.engine.model import Job

_Key = tuple[bool, bool, int, float, int]


class Queue:
    """Jobs, each taken once, in the order of definition 2.

    Only a project's own use decides its place, so ``touch`` it whenever that has changed. ``jobs`` come in the order
    inside their projects.
    """

    def __init__(self, board: Board, jobs: Iterable[Job]) -> None:
        self._board = board
        self._jobs: dict[int, list[Job]] = defaultdict(list)
        for job in jobs:
            self._jobs[job.project].append(job)
        self._keys: dict[int, _Key] = {}
        self._heap: list[tuple[_Key, int]] = []
        for project, jobs_of in self._jobs.items():
            jobs_of.reverse()
            self.touch(project)

    def __iter__(self) -> Iterator[Job]:
        while self._heap:
            key, project = heapq.heappop(self._heap)
            if self._keys.get(project) == key:
                del self._keys[project]
                job = self._jobs[project].pop()
                yield job
                self.touch(project)

    def touch(self, project: int) -> None:
        """Find the project's place anew."""
        if jobs := self._jobs.get(project):
            key = _key(self._board, jobs[-1])
            if self._keys.get(project) != key:
                self._keys[project] = key
                heapq.heappush(self._heap, (key, project))


def _key(board: Board, job: Job) -> _Key:
    """Use below share first; fits the guarantee; rank; use by share, share 0 last; id. Of several models, the best."""
    party = board.parties.projects[job.project]
    keys = [
        _of_model(board.ledger.use(party, model), board.share(party, model), party.guaranteed(model), job)
        for model in board.eligible.models(job)
    ]
    is_above, is_outside, part = min(keys, default=(True, True, NEVER))
    return is_above, is_outside, -party.entitlement.rank, part, job.project


def _of_model(use: int, share: int, guaranteed: int, job: Job) -> tuple[bool, bool, float]:
    return use >= share, use + job.ask.total_milli > guaranteed, use / share if share else NEVER


def by_standing(board: Board, job: Job, models: Iterable[str]) -> list[list[str]]:
    """Models on which the job is within its project's guarantee, then within its share, then the others."""
    standing: dict[int, list[str]] = {}
    party = board.parties.projects[job.project]
    for model in models:
        use = board.ledger.use(party, model) + job.ask.total_milli
        place = 0 if use <= party.guaranteed(model) else 1 if use <= board.share(party, model) else 2
        standing.setdefault(place, []).append(model)
    return [standing[place] for place in sorted(standing)]
