"""What may be taken from whom: between projects, and inside one."""

import heapq
from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from scheduling.engine.board import Board
from scheduling.engine.model import Job
from scheduling.engine.parties import Party
from scheduling.engine.stoppable import Place


@dataclass(slots=True)
class Gone:
    """What the victims chosen so far no longer use: in all, and by the place of each party; cores and memory by the
    project's."""

    milli: dict[int, int] = field(default_factory=lambda: defaultdict(int))
    cpus: dict[int, int] = field(default_factory=lambda: defaultdict(int))
    memory_bytes: dict[int, int] = field(default_factory=lambda: defaultdict(int))
    total: int = 0
    jobs: set[int] = field(default_factory=set)

    def of(self, party: Party) -> int:
        return self.milli[party.index]

    def add(self, chain: Sequence[Party], job: Job, sign: int = 1) -> None:
        self.total += sign * job.ask.total_milli
        (self.jobs.add if sign > 0 else self.jobs.remove)(job.id)
        self.cpus[chain[0].index] += sign * job.ask.cpus * job.ask.nodes
        self.memory_bytes[chain[0].index] += sign * job.ask.memory_bytes * job.ask.nodes
        for party in chain:
            self.milli[party.index] += sign * job.ask.total_milli


class Rules(ABC):
    """What one action allows for one newcomer on one model, as the board stands now."""

    def __init__(self, board: Board, newcomer: Job, model: str) -> None:
        self.board = board
        self.newcomer = newcomer
        self.model = model
        self.chain = board.parties.chain[newcomer.project]
        self._must_go: list[tuple[int, int]] = []
        """By the place of a party, what must leave it so that the newcomer stays within its bounds."""
        for party in self.chain:
            over = board.ledger.use(party, model) + newcomer.ask.total_milli
            bounds = self._bounds(party)
            if bounds and over > min(bounds):
                self._must_go.append((party.index, over - min(bounds)))
        lacking = {gate.name: gate.missing for gate in board.gates.of_resources(newcomer)}
        self._cpus, self._memory_bytes = lacking.get("cpus", 0), lacking.get("memory_bytes", 0)

    def _bounds(self, party: Party) -> list[int]:
        """What the newcomer's project and the groups above it may use at most."""
        limit = party.limit(self.model)
        return [] if limit is None else [limit]

    @staticmethod
    @abstractmethod
    def is_conceivable(board: Board, newcomer: Job, model: str) -> bool:
        """A quick look before the search: False if no victims could make the newcomer legal, now or later in the
        action."""

    @abstractmethod
    def is_candidate(self, job: Job) -> bool:
        """Whether a stoppable job may be a victim at all, whatever is used."""

    @abstractmethod
    def candidates(self) -> tuple[Mapping[int, Sequence[Job]], list[Place]]:
        """By project, in the order of victims, and the projects' places among them: a heap, the caller's own."""

    @abstractmethod
    def at_most(self, jobs: Iterable[Job]) -> int:
        """No more milli-GPU than this can be taken legally from these candidates."""

    @abstractmethod
    def may_take(self, victim: Job, gone: Gone) -> bool:
        """Whether the victim is legal now, earlier victims gone."""

    def may_start(self, gone: Gone) -> bool:
        """Whether the newcomer is within its bounds once these are gone, and leaves reserve and windows alone."""
        board, job = self.board, self.newcomer
        return (
            all(gone.milli[place] >= milli for place, milli in self._must_go)
            and gone.cpus[self.chain[0].index] >= self._cpus
            and gone.memory_bytes[self.chain[0].index] >= self._memory_bytes
            and board.reserve.is_kept(job, self.model, gone.total)
            and board.windows.gate(job, self.model, gone.jobs) is None
        )

    def has_protection(self) -> bool:
        """A newcomer that is not preemptible fits the guarantee; victims, being preemptible, do not help there."""
        return self.newcomer.is_preemptible or self.board.ledger.fits_guarantee(self.newcomer, self.model)


@dataclass(slots=True)
class _Side:
    """A sibling of ours above what it is due, and our own party beside it. ``spare`` is what it uses above what it may
    keep, once all that our own side could lose is lost."""

    theirs: int
    guaranteed: int
    share: int
    use: int
    spare: int
    mine: int
    mine_guaranteed: int
    mine_use: int
    """The newcomer included."""


class Reclaim(Rules):
    """Between projects: a side above what it is due gives way to one that stays within its share."""

    def __init__(self, board: Board, newcomer: Job, model: str) -> None:
        super().__init__(board, newcomer, model)
        self._open: dict[int, _Side] = {}
        """Projects whose victims are legal, or would be once all that our own side could lose is lost."""
        for mine in self.chain:
            for theirs in board.parties.children[mine.parent]:
                use, guaranteed = board.ledger.use(theirs, model), theirs.guaranteed(model)
                if use > guaranteed and theirs is not mine and (side := self._side(theirs, mine)).spare > 0:
                    self._open.update(dict.fromkeys(board.parties.below[theirs.index], side))

    def _bounds(self, party: Party) -> list[int]:
        return [*super()._bounds(party), self.board.share(party, self.model)]

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

    def _side(self, theirs: Party, mine: Party) -> _Side:
        board, model = self.board, self.model
        use, guaranteed, share = board.ledger.use(theirs, model), theirs.guaranteed(model), board.share(theirs, model)
        losable = board.stoppable.milli(mine, model) - board.stoppable.milli(self.chain[0], model)
        own, own_guaranteed = board.ledger.use(mine, model) + self.newcomer.ask.total_milli, mine.guaranteed(model)
        spare = use - (guaranteed if own - losable <= own_guaranteed else max(guaranteed, share))
        return _Side(theirs.index, guaranteed, share, use, spare, mine.index, own_guaranteed, own)

    def at_most(self, jobs: Iterable[Job]) -> int:
        """A side gives until it has no more to spare; the last job may be larger than that."""
        sums: dict[int, int] = defaultdict(int)
        largest: dict[int, int] = defaultdict(int)
        spare: dict[int, int] = {}
        for job in jobs:
            side, milli = self._open[job.project], job.ask.total_milli
            spare[side.theirs] = side.spare
            sums[side.theirs] += milli
            largest[side.theirs] = max(largest[side.theirs], milli)
        return sum(min(milli, spare[side] + largest[side] - 1) for side, milli in sums.items())

    def candidates(self) -> tuple[Mapping[int, Sequence[Job]], list[Place]]:
        jobs = self.board.stoppable.of(self.model)
        places = [place for place in self.board.stoppable.places(self.model) if place[1] in self._open]
        heapq.heapify(places)
        return jobs, places

    def may_take(self, victim: Job, gone: Gone) -> bool:
        """Their side is above guarantee and share; or above its guarantee, and ours is within its own."""
        side = self._open[victim.project]
        use = side.use - gone.milli[side.theirs]
        if use <= side.guaranteed:
            return False
        return use > side.share or side.mine_use - gone.milli[side.mine] <= side.mine_guaranteed


class Preemption(Rules):
    """Inside a project: strictly lower priority gives way."""

    @staticmethod
    def is_conceivable(board: Board, newcomer: Job, model: str) -> bool:
        own = board.stoppable.of(model).get(newcomer.project, ())
        return len(own) > 0 and own[0].priority < newcomer.priority

    def is_candidate(self, job: Job) -> bool:
        return job.project == self.newcomer.project and job.priority < self.newcomer.priority

    def candidates(self) -> tuple[Mapping[int, Sequence[Job]], list[Place]]:
        own = [job for job in self.board.stoppable.of(self.model)[self.newcomer.project] if self.is_candidate(job)]
        return {self.newcomer.project: own}, [self.board.stoppable.place(job, self.model, 0) for job in own[:1]]

    def at_most(self, jobs: Iterable[Job]) -> int:
        return sum(job.ask.total_milli for job in jobs)

    def may_take(self, victim: Job, gone: Gone) -> bool:
        return True
