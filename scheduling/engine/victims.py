"""Who must stop for a newcomer: as few as needed, each of them legally, or nobody."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from scheduling.engine.board import Board, Chosen
from scheduling.engine.model import Job
from scheduling.engine.parties import Party
from scheduling.engine.room import Bools, Room


@dataclass(frozen=True, slots=True)
class Exchange:
    """The newcomer's place and who stops for it, in the order in which they were chosen."""

    chosen: Chosen
    victims: tuple[Job, ...]


class Rules:
    """What one action allows for one newcomer on one model. ``gone`` is what chosen victims no longer use, by party."""

    def __init__(self, board: Board, newcomer: Job, model: str) -> None:
        self.board = board
        self.newcomer = newcomer
        self.model = model
        self.chain = board.parties.chain[newcomer.project]

    def is_conceivable(self) -> bool:
        """A quick look before the search: False if no victim could make the newcomer legal."""
        raise NotImplementedError

    def candidates(self) -> Iterable[Job]:
        """Jobs that may be victims at all, whatever is used."""
        raise NotImplementedError

    def may_take(self, victim: Job, gone: "Gone") -> bool:
        """Whether the victim is legal now, earlier victims gone."""
        raise NotImplementedError

    def may_start(self, gone: "Gone") -> bool:
        """Whether the newcomer is legal once these are gone."""
        raise NotImplementedError

    def is_within(self, bound: Callable[[Party], int | None], gone: "Gone") -> bool:
        """Whether the newcomer stays within this bound at every level."""
        ask = self.newcomer.ask.total_milli
        return all(
            (most := bound(party)) is None or self.board.ledger.use(party, self.model) - gone.of(party) + ask <= most
            for party in self.chain
        )

    def has_protection(self) -> bool:
        """A newcomer that is not preemptible fits the guarantee; victims, being preemptible, do not help there."""
        return self.newcomer.is_preemptible or self.board.ledger.lacks_guarantee(self.newcomer, self.model) is None

    def limit(self, party: Party) -> int | None:
        return party.limit(self.model)

    def share(self, party: Party) -> int:
        return self.board.share(party, self.model)


@dataclass(slots=True)
class Gone:
    """What the victims chosen so far no longer use, by the place of each party."""

    milli: dict[int, int] = field(default_factory=lambda: defaultdict(int))

    def of(self, party: Party) -> int:
        return self.milli[party.index]

    def add(self, chain: Sequence[Party], job: Job, sign: int = 1) -> None:
        for party in chain:
            self.milli[party.index] += sign * job.ask.total_milli


class Reclaim(Rules):
    """Between projects: a side above what it is due gives way to one that stays within its share."""

    def is_conceivable(self) -> bool:
        """Victims are of other projects, so that they do not help its own share."""
        project = self.chain[0]
        use = self.board.ledger.use(project, self.model) + self.newcomer.ask.total_milli
        return use <= self.share(project) and self.has_protection()

    def candidates(self) -> Iterable[Job]:
        for job in self.board.stoppable(self.model):
            if job.project != self.newcomer.project:
                yield job

    def may_take(self, victim: Job, gone: Gone) -> bool:
        theirs, mine = self.board.parties.sides(victim.project, self.newcomer.project)
        use, guaranteed = self.board.ledger.use(theirs, self.model) - gone.of(theirs), theirs.guaranteed(self.model)
        if use > max(guaranteed, self.share(theirs)):
            return True
        own = self.board.ledger.use(mine, self.model) - gone.of(mine) + self.newcomer.ask.total_milli
        return use > guaranteed and own <= mine.guaranteed(self.model)

    def may_start(self, gone: Gone) -> bool:
        return self.is_within(self.share, gone) and self.is_within(self.limit, gone) and self.has_protection()


class Preemption(Rules):
    """Inside a project: strictly lower priority gives way."""

    def is_conceivable(self) -> bool:
        return self.has_protection() and any(True for _job in self.candidates())

    def candidates(self) -> Iterable[Job]:
        for job in self.board.stoppable(self.model):
            if job.project == self.newcomer.project and job.priority < self.newcomer.priority:
                yield job

    def may_take(self, victim: Job, gone: Gone) -> bool:
        return True

    def may_start(self, gone: Gone) -> bool:
        return self.is_within(self.limit, gone) and self.has_protection()


class Search:
    """Looks for an exchange under some rules; changes nothing on the board."""

    def __init__(self, rules: Rules) -> None:
        self._rules = rules
        self._board, self._job, self._model = rules.board, rules.newcomer, rules.model
        self._base = self._board.own_room(self._job)
        held = {(s.row, c) for plan in self._board.calendar.respected(self._job) for s in plan.spots for c in s.columns}
        rows = self._board.eligible.rows(self._job) & self._board.room.can_take
        self._rows = rows & self._board.eligible.is_model(self._model)
        self._candidates = [job for job in rules.candidates() if self._is_useful(job, held)]

    def find(self) -> Exchange | None:
        """Greedily over all nodes; where that finds no place, node by node (set by set for a gang), in the order of
        placement."""
        if not self._candidates:
            return None
        found = self._settled(self._greedy(self._candidates, self._rows), self._rows)
        if found is not None:
            return found
        for rows in self._node_sets():
            mask = np.zeros(len(self._rows), dtype=np.bool_)
            mask[list(rows)] = True
            on_them = [job for job in self._candidates if any(spot.row in rows for spot in self._board.spots[job.id])]
            found = self._settled(self._greedy(on_them, mask), mask)
            if found is not None:
                return found
        return None

    def _is_useful(self, job: Job, held: set[tuple[int, int]]) -> bool:
        """It holds something where the newcomer may go, and nothing that a plan counts on."""
        spots = self._board.spots[job.id]
        is_kept = any((spot.row, column) in held for spot in spots for column in spot.columns)
        return not is_kept and any(self._rows[spot.row] for spot in spots)

    def _greedy(self, candidates: Sequence[Job], rows: Bools) -> list[Job] | None:
        """Victims in their order until the newcomer is placeable; None if it never is."""
        gone, room = Gone(), self._base.copy()
        left: dict[int, list[Job]] = defaultdict(list)
        for job in sorted(candidates, key=self._order, reverse=True):
            left[job.project].append(job)
        taken: list[Job] = []
        while (victim := self._next(left, gone)) is not None:
            left[victim.project].pop()
            taken.append(victim)
            self._move(room, gone, victim, leaves=True)
            if self._is_placeable(room, rows, gone):
                return taken
        return None

    def _next(self, left: dict[int, list[Job]], gone: Gone) -> Job | None:
        """Least rank, most above its share, then the job's own order; of projects that may be taken from."""
        best: tuple[tuple[object, ...], Job] | None = None
        for project, jobs in left.items():
            if not jobs or not self._rules.may_take(jobs[-1], gone):
                continue
            party = self._board.parties.projects[project]
            above = self._board.ledger.use(party, self._model) - gone.of(party) - self._rules.share(party)
            key = (party.entitlement.rank, -above, *self._order(jobs[-1]))
            if best is None or key < best[0]:
                best = key, jobs[-1]
        return best[1] if best else None

    def _order(self, job: Job) -> tuple[float, ...]:
        """Lowest priority, least work lost, most recently started, id."""
        started = job.started_at if job.started_at is not None else float("-inf")
        return job.priority, self._board.lost_gpu_seconds(job), -started, -job.order, job.id

    def _settled(self, victims: list[Job] | None, rows: Bools) -> Exchange | None:
        """Without those not needed, from the last chosen back, and legal from the first to the last; else None."""
        if victims is None:
            return None
        room, gone = self._base.copy(), Gone()
        for victim in victims:
            self._move(room, gone, victim, leaves=True)
        kept = list(victims)
        for victim in reversed(victims):
            self._move(room, gone, victim, leaves=False)
            if self._is_placeable(room, rows, gone):
                kept.remove(victim)
            else:
                self._move(room, gone, victim, leaves=True)
        chosen = self._board.place_on(self._job, rows, room)
        if chosen is None or not self._is_legal(kept):
            return None
        return Exchange(chosen, tuple(kept))

    def _is_legal(self, victims: Sequence[Job]) -> bool:
        """Each victim when its turn comes; then reserve and windows, with what they leave."""
        gone = Gone()
        for victim in victims:
            if not self._rules.may_take(victim, gone):
                return False
            gone.add(self._board.parties.chain[victim.project], victim)
        freed = sum(job.ask.total_milli for job in victims)
        reserve = self._board.reserve.gate(self._job, self._model, freed)
        return reserve is None and self._board.windows.gate(self._job, self._model, freed) is None

    def _move(self, room: Room, gone: Gone, victim: Job, *, leaves: bool) -> None:
        gone.add(self._board.parties.chain[victim.project], victim, 1 if leaves else -1)
        for spot in self._board.spots[victim.id]:
            if leaves:
                room.give_back(spot, victim.ask, victim.project)
            else:
                room.take(spot, victim.ask, victim.project)

    def _is_placeable(self, room: Room, rows: Bools, gone: Gone) -> bool:
        able = room.fits(self._job.ask, self._job.project, rows)
        hosts = self._board.room.host[able]
        return len(np.unique(hosts)) >= self._job.ask.nodes and self._rules.may_start(gone)

    def _node_sets(self) -> Iterable[set[int]]:
        """Rows that could take a member with all their candidates gone, one at a time; for a gang, as many
        neighbours in the order of placement as it needs."""
        room = self._base.copy()
        for job in self._candidates:
            self._move(room, Gone(), job, leaves=True)
        ask = self._job.ask
        able = np.flatnonzero(room.fits(ask, self._job.project, self._rows))
        order = [int(row) for row in self._board.preference.order(room, ask, self._job.project, able)]
        for first in range(len(order) - ask.nodes + 1):
            yield set(order[first : first + ask.nodes])
