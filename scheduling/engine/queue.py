"""Whose job is considered next: the project by use and share, inside it by priority and time."""

import heapq
from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator

from scheduling.engine.board import Board
from scheduling.engine.calendar import NEVER
from scheduling.engine.model import Job

_Key = tuple[bool, bool, int, float, int]


def in_order(board: Board, jobs: Iterable[Job]) -> Iterator[Job]:
    """The jobs, each once, in the order of definition 2; a project's place is found anew after each of its jobs.

    Of all that decides a project's place only its own use changes during a decision, so one heap is enough. ``jobs``
    come in the order inside their projects.
    """
    queues: dict[int, list[Job]] = defaultdict(list)
    for job in jobs:
        queues[job.project].append(job)
    for queue in queues.values():
        queue.reverse()
    heap = [(_key(board, queue[-1]), project) for project, queue in queues.items()]
    heapq.heapify(heap)
    while heap:
        key, project = heapq.heappop(heap)
        queue = queues[project]
        fresh = _key(board, queue[-1])
        if fresh != key:
            heapq.heappush(heap, (fresh, project))
            continue
        yield queue.pop()
        if queue:
            heapq.heappush(heap, (_key(board, queue[-1]), project))


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


def alike(job: Job) -> tuple[Hashable, ...]:
    """Jobs with one key are allowed and refused alike."""
    return job.project, job.ask, job.is_preemptible, job.is_emergency, job.max_runtime_s, job.avoid
