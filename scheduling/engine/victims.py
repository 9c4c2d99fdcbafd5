"""Who must stop for a newcomer: as few as needed, each of them legally, or nobody."""

import heapq
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from scheduling.engine.board import Chosen
from scheduling.engine.model import MILLI, Job
from scheduling.engine.room import Room
from scheduling.engine.rules import Gone, Rules
from scheduling.engine.stoppable import Place
from scheduling.engine.trial import Trial

Usefulness = dict[Hashable, dict[int, bool]]
"""By where a newcomer may go and what plans count on, of each job whether its end makes room there. Searches of one
action share it: what a running job holds does not change."""


@dataclass(frozen=True, slots=True)
class Exchange:
    """The newcomer's place and who stops for it, in the order in which they were chosen."""

    chosen: Chosen
    victims: tuple[Job, ...]


class _Line:
    """Candidates in the order in which they become victims. Only what its own project has lost moves a project's
    place; who is not legal when its turn comes may become so when our own side has lost something."""

    def __init__(
        self, rules: Rules, is_useful: Callable[[Job], bool], jobs: Mapping[int, Sequence[Job]], places: list[Place]
    ) -> None:
        self._rules = rules
        self._is_useful = is_useful
        self._jobs = jobs
        self._heap = places
        self._at: dict[int, int] = defaultdict(int)
        self._aside: list[Place] = []

    def take(self, gone: Gone) -> Job | None:
        """The next victim, which the caller adds to ``gone``; None if nobody is legal."""
        while self._heap:
            place = heapq.heappop(self._heap)
            job = self._jobs[place[1]][self._at[place[1]]]
            if not self._is_useful(job):
                self.advance(job.project, gone)
            elif self._rules.may_take(job, gone):
                return job
            else:
                self._aside.append(place)
        return None

    def advance(self, project: int, gone: Gone) -> None:
        """Go on to the project's next job."""
        self._at[project] += 1
        if self._at[project] < len(self._jobs[project]):
            board = self._rules.board
            lost = gone.of(board.parties.projects[project])
            job = self._jobs[project][self._at[project]]
            heapq.heappush(self._heap, board.stoppable.place(job, self._rules.model, lost))

    def look_again(self, victim: Job) -> None:
        """The victim is gone: if it was of our own group, others may have become legal."""
        parties = self._rules.board.parties
        if parties.chain[victim.project][-1] is self._rules.chain[-1]:
            for place in self._aside:
                heapq.heappush(self._heap, place)
            self._aside.clear()


class Search:
    """Looks for an exchange under some rules; changes nothing on the board. ``_trial`` is left by each step as it was
    found."""

    def __init__(self, rules: Rules, known: Usefulness) -> None:
        self._rules = rules
        self._board, self._job, self._model = rules.board, rules.newcomer, rules.model
        self._planned = self._board.calendar.respected(self._job).places
        rows = self._board.eligible.rows(self._job) & self._board.room.can_take
        self._rows = rows & self._board.eligible.is_model(self._model)
        key = self._board.eligible.key(self._job), self._model, self._planned
        self._known = known.setdefault(key, {})
        self._room = self._board.own_room(self._job)
        self._trial = Trial(self._room, self._job, self._rows)
        self._has_victims = False
        """Whether anybody was legal at all, as the first victim."""

    def find(self) -> Exchange | None:
        """Greedily over all nodes; where that finds no place, node by node (set by set for a gang), in the order of
        placement."""
        jobs, places = self._rules.candidates()
        if not places:
            return None
        found = self._settled(jobs, places, None)
        if found is not None or not self._has_victims:
            return found
        return self._on_one() if self._job.ask.nodes == 1 else self._on_sets()

    def _is_useful(self, job: Job) -> bool:
        """It holds something where the newcomer may go, and nothing that a plan counts on."""
        if job.id not in self._known:
            spots, planned = self._board.spots[job.id], self._planned
            is_kept = any((spot.row, column) in planned for spot in spots for column in spot.columns)
            self._known[job.id] = not is_kept and any(self._rows[spot.row] for spot in spots)
        return self._known[job.id]

    def _may_go(self, job: Job) -> bool:
        return self._rules.is_candidate(job) and self._is_useful(job)

    def _on_one(self) -> Exchange | None:
        """The first node in the order of placement that works. The order is looked for where several do."""
        works = {row: found for row in self._able() if (found := self._on((row,))) is not None}
        if len(works) < 2:
            return next(iter(works.values()), None)
        return next(works[row] for row in self._in_order() if row in works)

    def _on_sets(self) -> Exchange | None:
        """The first set of neighbours in the order of placement that works. A set can give no more than its nodes
        one by one."""
        nodes, lacks = self._job.ask.nodes, {row: self._lack((row,)) for row in self._able()}
        if len(lacks) < nodes or sum(sorted(lacks.values())[:nodes]) > 0:
            return None
        rows = self._in_order()
        sets = (rows[first : first + nodes] for first in range(len(rows) - nodes + 1))
        able = (some for some in sets if sum(lacks[row] for row in some) <= 0)
        return next(filter(None, map(self._on, able)), None)

    def _lack(self, rows: Sequence[int]) -> int:
        """What is missing on these rows beyond all that may be taken there."""
        jobs = [job for job in self._board.stoppable.on(self._model, rows) if self._may_go(job)]
        return self._least_missing(rows) - self._rules.at_most(jobs)

    def _able(self) -> list[int]:
        """Rows with enough GPUs for a member, if all that is stoppable there were gone."""
        free = np.maximum(self._room.free, 0).sum(axis=1) + self._board.stoppable.by_row(self._model, len(self._rows))
        rows: list[int] = np.flatnonzero(self._rows & (free >= self._job.ask.milli)).tolist()
        return rows

    def _in_order(self) -> list[int]:
        """Rows that could take a member if all candidates were gone, in the order of placement then."""
        board, job = self._board, self._job
        gone = {other.id: other for some in self._rules.candidates()[0].values() for other in some}
        room = self._without(filter(self._may_go, gone.values()))
        able = np.flatnonzero(room.fits(job.ask, job.project, self._rows))
        rows: list[int] = board.preference.order(room, job.ask, able).tolist()
        return rows

    def _without(self, jobs: Iterable[Job]) -> Room:
        """The room when these are gone."""
        self._room.states()
        room = self._room.copy()
        for job in jobs:
            for spot in self._board.spots[job.id]:
                room.give_back(spot, job.ask, job.project)
        return room

    def _on(self, rows: Sequence[int]) -> Exchange | None:
        """An exchange on these rows alone."""
        on_rows = [job for job in self._board.stoppable.on(self._model, rows) if self._may_go(job)]
        if not on_rows or self._rules.at_most(on_rows) < self._least_missing(rows) or not self._may_suffice(on_rows):
            return None
        jobs: dict[int, list[Job]] = defaultdict(list)
        for job in on_rows:
            jobs[job.project].append(job)
        places = [self._board.stoppable.place(some[0], self._model, 0) for some in jobs.values()]
        heapq.heapify(places)
        return self._settled(jobs, places, rows)

    def _may_suffice(self, jobs: Sequence[Job]) -> bool:
        """Whether anybody may go first, and the newcomer could start if all of these were gone: with fewer it may
        not, if it may not then."""
        gone = Gone()
        if not any(self._rules.may_take(job, gone) for job in jobs):
            return False
        for job in jobs:
            gone.add(self._board.parties.chain[job.project], job)
        return self._rules.may_start(gone)

    def _settled(
        self, jobs: Mapping[int, Sequence[Job]], places: list[Place], rows: Sequence[int] | None
    ) -> Exchange | None:
        """The greedy choice without those not needed, from the last back, if it is legal from the first to the
        last. ``rows``: where alone it may go; None for all."""
        gone = Gone()
        taken, is_placed = self._greedy(_Line(self._rules, self._is_useful, jobs, places), rows, gone)
        kept = list(taken)
        for victim in reversed(taken) if is_placed else ():
            self._move(gone, victim, leaves=False)
            if self._rules.may_start(gone) and self._has_place(rows):
                kept = [job for job in kept if job is not victim]
            else:
                self._move(gone, victim, leaves=True)
        for victim in kept:
            self._move(gone, victim, leaves=False)
        return self._exchange(kept, rows) if is_placed and self._is_legal(kept) else None

    def _exchange(self, victims: Sequence[Job], rows: Sequence[int] | None) -> Exchange | None:
        mask = self._rows
        if rows is not None:
            mask = np.zeros(len(self._rows), dtype=np.bool_)
            mask[list(rows)] = True
        chosen = self._board.place_on(self._job, mask, self._without(victims))
        return Exchange(chosen, tuple(victims)) if chosen is not None else None

    def _greedy(self, line: _Line, rows: Sequence[int] | None, gone: Gone) -> tuple[list[Job], bool]:
        """Victims in their order until the newcomer is placeable, and whether it is. They are gone from the trial.

        There is no need to look for a place before enough is gone for the row that lacks least.
        """
        least, taken, ahead = self._least_missing(rows), list[Job](), Gone()
        waiting: list[Job] = []
        while (victim := line.take(ahead)) is not None:
            self._has_victims = True
            waiting.append(victim)
            ahead.add(self._board.parties.chain[victim.project], victim)
            line.advance(victim.project, ahead)
            line.look_again(victim)
            if ahead.total >= least and self._rules.may_start(ahead):
                for moved in waiting:
                    self._move(gone, moved, leaves=True)
                taken += waiting
                waiting.clear()
                if self._has_place(rows):
                    return taken, True
        return taken, False

    def _least_missing(self, rows: Sequence[int] | None) -> int:
        """What must be gone at least, in milli-GPU: that of the rows which lack least."""
        ask, whole = self._job.ask, self._room.whole
        if ask.milli < MILLI:
            return 0
        if rows is None:
            missing = np.sort(np.maximum(0, ask.devices - whole[self._rows]))[: ask.nodes]
            return int(missing.sum()) * MILLI
        return sum(sorted(max(0, ask.devices - int(whole[row])) for row in rows)[: ask.nodes]) * MILLI

    def _is_legal(self, victims: Sequence[Job]) -> bool:
        """Each victim when its turn comes; and no plan moves."""
        gone = Gone()
        for victim in victims:
            if not self._rules.may_take(victim, gone):
                return False
            gone.add(self._board.parties.chain[victim.project], victim)
        return self._board.spares.delayed(self._job, self._model, victims) is None

    def _move(self, gone: Gone, victim: Job, *, leaves: bool) -> None:
        gone.add(self._board.parties.chain[victim.project], victim, 1 if leaves else -1)
        spots = self._board.spots[victim.id]
        if leaves:
            self._trial.leave(spots, victim)
        else:
            self._trial.come_back(spots, victim)

    def _has_place(self, rows: Sequence[int] | None) -> bool:
        """Whether every member has a node."""
        return self._trial.count >= self._job.ask.nodes if rows is None else self._trial.fits_on(rows)
