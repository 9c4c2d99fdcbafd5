"""Choosing rows for the members of a job."""

from collections.abc import Sequence

import numpy as np

from scheduling.engine.model import MILLI, Ask
from scheduling.engine.preference.lookahead import Lookahead
from scheduling.engine.preference.mix import Mix
from scheduling.engine.preference.scarcity import Floats, Scarcity, types_of
from scheduling.engine.room import Ints, Room, State

CLOSEST = 40
"""Distinct node states that are looked at closely; the others come after them."""
_TOGETHER = 100
"""Milli-GPU per member that it may cost to keep a gang in one group of nodes."""


class Preference:
    """Where least is lost for the usual mix, in whole milli-GPU: the fall of the node's value (``lookahead``) and the
    scarce room that is likely to be missed (``scarcity``); then a gang within one interconnect and pool; then least
    left over, whole GPUs before parts; then the node's name. Without a mix only the last three count.

    The jobs to come are expected to ask for ``demand`` times the room that is left. What is remembered between calls,
    and from room to room, changes no answer.
    """

    def __init__(self, mix: Mix | None = None, demand: float = 1) -> None:
        self.mix = mix or Mix()
        self._demand = demand
        self._lookahead = Lookahead(self.mix)
        self._has_mix = any(ask.milli for ask, _weight in self.mix.parts)
        self._scarcity = Scarcity((), self.mix, demand)
        self._known: Sequence[State] | None = None
        self._losses: dict[Ask, dict[int, float]] = {}

    def best(self, room: Room, ask: Ask, rows: Ints, count: int) -> Ints:
        """Rows for ``count`` members on distinct nodes, best first, out of ``rows`` (ascending, where one member fits);
        fewer if there are not so many."""
        order, cost = self._ranked(room, ask, rows, count)
        hosts = room.host[order]
        _hosts, first = np.unique(hosts, return_index=True)
        first.sort()
        if count == 1 or len(first) <= count:
            return order[first[:count]]
        return self._together(order[first], cost[first], count)

    def order(self, room: Room, ask: Ask, rows: Ints) -> Ints:
        """All the rows, best first; here there may be some where the job does not fit yet."""
        return self._ranked(room, ask, rows, len(rows))[0]

    def _bind(self, room: Room) -> None:
        if self._known is room.known_states():
            return
        self._known, self._losses = room.known_states(), {}
        types, self._row_type = types_of(room)
        if types != self._scarcity.types:
            self._scarcity = Scarcity(types, self.mix, self._demand)
        groups = [(node.interconnect, node.pool) for node in room.nodes]
        numbers = {group: at for at, group in enumerate(dict.fromkeys(groups))}
        self._row_group = np.array([numbers[group] for group in groups], dtype=np.int64)

    def _ranked(self, room: Room, ask: Ask, rows: Ints, count: int) -> tuple[Ints, Floats]:
        """Rows best first with their costs; only the best of each state where one is wanted."""
        self._bind(room)
        states = room.states()[rows]
        codes = states * (len(self._scarcity.types) + 1) + self._row_type[rows]
        _codes, first, alike = np.unique(codes, return_index=True, return_inverse=True)
        cost, whole, milli = self._costs(room, ask, rows[first], states[first])
        if count > 1:
            cost, whole, milli = cost[alike], whole[alike], milli[alike]
        else:
            rows = rows[first]
        order = np.lexsort((rows, milli, whole, cost))
        return rows[order], cost[order]

    def _costs(self, room: Room, ask: Ask, rows: Ints, states: Ints) -> tuple[Floats, Ints, Ints]:
        """Of rows in distinct states: cost, whole devices left, milli-GPU left."""
        whole = room.whole[rows]
        free = np.maximum(room.free[rows], 0).sum(axis=1)
        is_part = 0 < ask.milli < MILLI
        opened = np.where(is_part, room.largest_part[rows] < ask.milli, 0 if is_part else ask.devices)
        milli = np.full(len(rows), ask.milli, dtype=np.int64)
        whole_left, left = whole - opened, free - milli
        if ask.is_exclusive:
            opened, milli = whole, free
        if not self._has_mix:
            return np.zeros(len(rows)), whole_left, left
        chances = self._scarcity.chances(room, self._row_type)
        cost = np.round(self._scarcity.cost(chances, self._row_type[rows], whole, opened, milli))
        near = np.lexsort((rows, left, whole_left, cost))[:CLOSEST]
        total = np.full(len(rows), np.inf)
        total[near] = np.round(cost[near] + self._fall(room, ask, states[near].tolist()))
        return total, whole_left, left

    def _fall(self, room: Room, ask: Ask, states: list[int]) -> list[float]:
        known = self._losses.setdefault(ask, {})
        fresh = [state for state in dict.fromkeys(states) if state not in known]
        full = [room.known_states()[state] for state in fresh]
        named = [(room.cards[card], frees, cpus, memory) for card, frees, cpus, memory in full]
        known.update(zip(fresh, self._lookahead.losses(named, ask), strict=True))
        return [known[state] for state in states]

    def _together(self, rows: Ints, cost: Floats, count: int) -> Ints:
        """Of rows on distinct nodes, best first: the cheapest group that has enough, unless taking the best from all
        groups costs clearly less."""
        groups = self._row_group[rows]
        most = cost[:count].sum() + count * _TOGETHER
        found: list[tuple[float, int]] = []
        for group in dict.fromkeys(groups.tolist()):
            members = np.flatnonzero(groups == group)[:count]
            if len(members) == count and cost[members].sum() <= most:
                found.append((float(cost[members].sum()), group))
        if not found:
            return rows[:count]
        best = min(found, key=lambda pair: pair[0])[1]
        chosen: Ints = rows[groups == best][:count]
        return chosen
