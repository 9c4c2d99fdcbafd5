"""Who must stop for a newcomer: as few as needed, each of them legally, or nobody."""

import heapq
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from scheduling.engine.board import Board, Chosen
from scheduling.engine.model import MILLI, Job
from scheduling.engine.parties import Party
from scheduling.engine.room import Bools
from scheduling.engine.stoppable import Place


@dataclass(frozen=True, slots=True)
class Exchange:
    """The newcomer's place and who stops for it, in the order in which they were chosen."""

    chosen: Chosen
    victims: tuple[Job, ...]


@dataclass(slots=True)
class Gone:
    """What the victims chosen so far no longer use: in all, and by the place of each party."""

    milli: dict[int, int] = field(default_factory=lambda: defaultdict(int))
    total: int = 0

    def of(self, party: Party) -> int:
        return self.milli[party.index]

    def add(self, chain: Sequence[Party], job: Job, sign: int = 1) -> None:
        self.total += sign * job.ask.total_milli
        for party in chain:
            self.milli[party.index] += sign * job.ask.total_milli


class Rules:
    """What one action allows for one newcomer on one model."""

    def __init__(self, board: Board, newcomer: Job, model: str) -> None:
        self.board = board
        self.newcomer = newcomer
        self.model = model
        self.chain = board.parties.chain[newcomer.project]

    @staticmethod
    def is_conceivable(board: Board, newcomer: Job, model: str) -> bool:
        """A quick look before the search: False if no victims could make the newcomer legal, now or later in the
        action."""
        raise NotImplementedError

    def is_candidate(self, job: Job) -> bool:
        """Whether a stoppable job may be a victim at all, whatever is used."""
        raise NotImplementedError

    def candidates(self) -> tuple[Mapping[int, Sequence[Job]], list[Place]]:
        """By project, in the order of victims, and the projects' places among them: a heap, the caller's own."""
        raise NotImplementedError

    def at_most(self, jobs: Iterable[Job]) -> int:
        """No more milli-GPU than this can be taken legally from these candidates."""
        raise NotImplementedError

    def may_take(self, victim: Job, gone: Gone) -> bool:
        """Whether the victim is legal now, earlier victims gone."""
        raise NotImplementedError

    def may_start(self, gone: Gone) -> bool:
        """Whether the newcomer is legal once these are gone: limits, guarantee, reserve and windows."""
        board, job = self.board, self.newcomer
        return (
            self.is_within(lambda party: party.limit(self.model), gone)
            and self.has_protection()
            and board.reserve.is_kept(job, self.model, gone.total)
            and board.windows.gate(job, self.model, gone.total) is None
        )

    def is_within(self, bound: Callable[[Party], int | None], gone: Gone) -> bool:
        """Whether the newcomer stays within this bound at every level."""
        ask = self.newcomer.ask.total_milli
        return all(
            (most := bound(party)) is None or self.board.ledger.use(party, self.model) - gone.of(party) + ask <= most
            for party in self.chain
        )

    def has_protection(self) -> bool:
        """A newcomer that is not preemptible fits the guarantee; victims, being preemptible, do not help there."""
        return self.newcomer.is_preemptible or self.board.ledger.lacks_guarantee(self.newcomer, self.model) is None


class Reclaim(Rules):
    """Between projects: a side above what it is due gives way to one that stays within its share."""

    def __init__(self, board: Board, newcomer: Job, model: str) -> None:
        super().__init__(board, newcomer, model)
        self._open: dict[int, Party] = {}
        """Projects whose victims are legal, or would be once all that our own side could lose is lost; their side."""
        self._spare: dict[int, int] = {}
        """Of each such side, what it uses above what it may keep."""
        for mine in self.chain:
            for theirs in board.parties.children[mine.parent]:
                if theirs is not mine and (spare := self._spare_of(theirs, mine)) > 0:
                    self._spare[theirs.index] = spare
                    self._open.update(dict.fromkeys(board.parties.below[theirs.index], theirs))

    @staticmethod
    def is_conceivable(board: Board, newcomer: Job, model: str) -> bool:
        """Victims are of other projects, so that they do not help its own share; and no more can leave a group than
        is stoppable there."""
        ask, own = newcomer.ask.total_milli, board.parties.projects[newcomer.project]
        for party in board.parties.chain[newcomer.project]:
            losable = board.stoppable.milli(party, model) - board.stoppable.milli(own, model)
            if board.ledger.use(party, model) + ask - losable > board.share(party, model):
                return False
        return True

    def is_candidate(self, job: Job) -> bool:
        return job.project in self._open

    def _spare_of(self, theirs: Party, mine: Party) -> int:
        board, model = self.board, self.model
        use, guaranteed = board.ledger.use(theirs, model), theirs.guaranteed(model)
        if use <= guaranteed:
            return 0
        losable = board.stoppable.milli(mine, model) - board.stoppable.milli(self.chain[0], model)
        own = board.ledger.use(mine, model) + self.newcomer.ask.total_milli - losable
        return use - (guaranteed if own <= mine.guaranteed(model) else max(guaranteed, board.share(theirs, model)))

    def at_most(self, jobs: Iterable[Job]) -> int:
        """A side gives until it has no more to spare; the last job may be larger than that."""
        sums: dict[int, int] = defaultdict(int)
        largest: dict[int, int] = defaultdict(int)
        for job in jobs:
            side, milli = self._open[job.project].index, job.ask.total_milli
            sums[side] += milli
            largest[side] = max(largest[side], milli)
        return sum(min(milli, self._spare[side] + largest[side] - 1) for side, milli in sums.items())

    def candidates(self) -> tuple[Mapping[int, Sequence[Job]], list[Place]]:
        jobs = self.board.stoppable.of(self.model)
        places = [place for place in self.board.stoppable.places(self.model) if place[1] in self._open]
        heapq.heapify(places)
        return jobs, places

    def may_take(self, victim: Job, gone: Gone) -> bool:
        """Their side is above guarantee and share; or above its guarantee, and ours is within its own."""
        theirs, mine = self.board.parties.sides(victim.project, self.newcomer.project)
        guaranteed = theirs.guaranteed(self.model)
        use = self.board.ledger.use(theirs, self.model) - gone.of(theirs)
        if use <= guaranteed:
            return False
        if use > self.board.share(theirs, self.model):
            return True
        own = self.board.ledger.use(mine, self.model) - gone.of(mine) + self.newcomer.ask.total_milli
        return own <= mine.guaranteed(self.model)

    def may_start(self, gone: Gone) -> bool:
        return self.is_within(lambda party: self.board.share(party, self.model), gone) and super().may_start(gone)


class Preemption(Rules):
    """Inside a project: strictly lower priority gives way."""

    @staticmethod
    def is_conceivable(board: Board, newcomer: Job, model: str) -> bool:
        own = board.stoppable.of(model).get(newcomer.project)
        return bool(own) and own[0].priority < newcomer.priority

    def is_candidate(self, job: Job) -> bool:
        return job.project == self.newcomer.project and job.priority < self.newcomer.priority

    def candidates(self) -> tuple[Mapping[int, Sequence[Job]], list[Place]]:
        own = [job for job in self.board.stoppable.of(self.model)[self.newcomer.project] if self.is_candidate(job)]
        return {self.newcomer.project: own}, [self.board.stoppable.place(job, self.model, 0) for job in own[:1]]

    def at_most(self, jobs: Iterable[Job]) -> int:
        return sum(job.ask.total_milli for job in jobs)

    def may_take(self, victim: Job, gone: Gone) -> bool:
        return True


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
    """Looks for an exchange under some rules; changes nothing on the board. ``_room`` is a trial that each step leaves
    as it found it."""

    def __init__(self, rules: Rules) -> None:
        self._rules = rules
        self._board, self._job, self._model = rules.board, rules.newcomer, rules.model
        self._planned = self._board.calendar.respected(self._job).places
        rows = self._board.eligible.rows(self._job) & self._board.room.can_take
        self._rows = rows & self._board.eligible.is_model(self._model)
        room = self._board.own_room(self._job)
        room.states()
        self._room = room.copy()

    def find(self) -> Exchange | None:
        """Greedily over all nodes; where that finds no place, node by node (set by set for a gang), in the order of
        placement."""
        if not self._rules.has_protection():
            return None
        found = self._settled(*self._rules.candidates(), self._rows)
        if found is not None:
            return found
        return next(filter(None, (self._on(rows) for rows in self._node_sets())), None)

    def _is_useful(self, job: Job) -> bool:
        """It holds something where the newcomer may go, and nothing that a plan counts on."""
        spots = self._board.spots[job.id]
        is_kept = self._planned and any(
            (spot.row, column) in self._planned for spot in spots for column in spot.columns
        )
        return not is_kept and any(self._rows[spot.row] for spot in spots)

    def _node_sets(self) -> Iterable[Sequence[int]]:
        """Rows that could take a member if all candidates on them were gone: in the order of placement, one at a
        time; for a gang, as many neighbours as it needs."""
        gone, nodes = Gone(), self._job.ask.nodes
        jobs = [job for some in self._rules.candidates()[0].values() for job in some if self._may_go(job)]
        for job in jobs:
            self._move(gone, job, leaves=True)
        able = np.flatnonzero(self._room.fits(self._job.ask, self._job.project, self._rows))
        rows = self._board.preference.order(self._room, self._job.ask, self._job.project, able).tolist()
        for job in jobs:
            self._move(gone, job, leaves=False)
        for first in range(len(rows) - nodes + 1):
            yield rows[first : first + nodes]

    def _may_go(self, job: Job) -> bool:
        return self._rules.is_candidate(job) and self._is_useful(job)

    def _on(self, rows: Sequence[int]) -> Exchange | None:
        """An exchange on these rows alone."""
        mask = np.zeros(len(self._rows), dtype=np.bool_)
        mask[list(rows)] = True
        on_rows = [job for job in self._board.stoppable.on(self._model, rows) if self._may_go(job)]
        if self._rules.at_most(on_rows) < self._least_missing(mask):
            return None
        jobs: dict[int, list[Job]] = defaultdict(list)
        for job in on_rows:
            jobs[job.project].append(job)
        places = [self._board.stoppable.place(some[0], self._model, 0) for some in jobs.values()]
        heapq.heapify(places)
        return self._settled(jobs, places, mask)

    def _settled(self, jobs: Mapping[int, Sequence[Job]], places: list[Place], rows: Bools) -> Exchange | None:
        """The greedy choice without those not needed, from the last back, if it is legal from the first to the
        last."""
        gone = Gone()
        taken, is_placed = self._greedy(_Line(self._rules, self._is_useful, jobs, places), rows, gone)
        kept = list(taken)
        for victim in reversed(taken) if is_placed else ():
            self._move(gone, victim, leaves=False)
            if self._is_placeable(rows, gone):
                kept = [job for job in kept if job is not victim]
            else:
                self._move(gone, victim, leaves=True)
        chosen = self._board.place_on(self._job, rows, self._room) if is_placed else None
        for victim in kept:
            self._move(gone, victim, leaves=False)
        return Exchange(chosen, tuple(kept)) if chosen is not None and self._is_legal(kept) else None

    def _greedy(self, line: _Line, rows: Bools, gone: Gone) -> tuple[list[Job], bool]:
        """Victims in their order until the newcomer is placeable, and whether it is. They are gone from the trial.

        There is no need to look for a place before enough is gone for the row that lacks least.
        """
        least, taken, ahead = self._least_missing(rows), list[Job](), Gone()
        waiting: list[Job] = []
        while (victim := line.take(ahead)) is not None:
            waiting.append(victim)
            ahead.add(self._board.parties.chain[victim.project], victim)
            line.advance(victim.project, ahead)
            line.look_again(victim)
            if ahead.total >= least and self._rules.may_start(ahead):
                for moved in waiting:
                    self._move(gone, moved, leaves=True)
                taken += waiting
                waiting.clear()
                if self._is_placeable(rows, gone):
                    return taken, True
        return taken, False

    def _least_missing(self, rows: Bools) -> int:
        """What must be gone at least, in milli-GPU: that of the rows which lack least."""
        if self._job.ask.milli < MILLI:
            return 0
        missing = np.sort(np.maximum(0, self._job.ask.devices - self._room.whole[rows]))[: self._job.ask.nodes]
        return int(missing.sum()) * MILLI

    def _is_legal(self, victims: Sequence[Job]) -> bool:
        """Each victim when its turn comes."""
        gone = Gone()
        for victim in victims:
            if not self._rules.may_take(victim, gone):
                return False
            gone.add(self._board.parties.chain[victim.project], victim)
        return True

    def _move(self, gone: Gone, victim: Job, *, leaves: bool) -> None:
        gone.add(self._board.parties.chain[victim.project], victim, 1 if leaves else -1)
        for spot in self._board.spots[victim.id]:
            if leaves:
                self._room.give_back(spot, victim.ask, victim.project)
            else:
                self._room.take(spot, victim.ask, victim.project)

    def _is_placeable(self, rows: Bools, gone: Gone) -> bool:
        if not self._rules.may_start(gone):
            return False
        able = self._room.fits(self._job.ask, self._job.project, rows)
        return len(np.unique(self._room.host[able])) >= self._job.ask.nodes
