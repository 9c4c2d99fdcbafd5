"""Who is due how much of each GPU model: guarantees first, then the surplus by rank and weight.

Level by level from the top; what a group gets is what its children divide.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import lcm

from scheduling.engine.model import MILLI
from scheduling.engine.parties import ROOT, Parties, Party


@dataclass(frozen=True, slots=True)
class Sibling:
    """What one sibling brings to a division: ``need`` is what it asked for within its limit; ``age`` and ``id`` break
    ties, smaller first."""

    guaranteed: int
    need: int
    weight: Fraction = Fraction(1)
    rank: int = 0
    past_use: Fraction = Fraction(0)
    age: int = 0
    id: int = 0


def divide(amount: int, siblings: Sequence[Sibling], usage_sensitivity: Fraction = Fraction(0)) -> list[int]:
    """Each sibling's share of ``amount`` milli-GPU, in the order in which they are given. Guarantees are met even where
    they exceed the amount together."""
    shares = [min(sibling.guaranteed, sibling.need) for sibling in siblings]
    left = amount - sum(shares)
    ranks: dict[int, list[int]] = defaultdict(list)
    for place, sibling in enumerate(siblings):
        ranks[sibling.rank].append(place)
    for rank in sorted(ranks, reverse=True):
        if left <= 0:
            break
        left = _Surplus(siblings, shares, usage_sensitivity).hand_out(left, ranks[rank])
    return shares


class _Surplus:
    """What is left of a model, handed out among the siblings of one rank. Changes ``shares``."""

    def __init__(self, siblings: Sequence[Sibling], shares: list[int], usage_sensitivity: Fraction) -> None:
        self._siblings = siblings
        self._shares = shares
        self._sensitivity = usage_sensitivity

    def hand_out(self, left: int, places: Sequence[int]) -> int:
        """Rounds of proportional parts in whole GPUs, until nobody needed less than its part. Returns what is left."""
        while True:
            weights = _in_whole_numbers(self._weights([place for place in places if self._need(place) > 0]))
            total = sum(weights.values())
            if left <= 0 or not total:
                return left
            remainders: dict[int, int] = {}
            # Each is due left * weight / total; all is multiplied by the total to stay exact without fractions.
            due_of = {place: left * weight for place, weight in weights.items()}
            needed_less = any(self._need(place) * total < due for place, due in due_of.items())
            for place, due in due_of.items():
                need = self._need(place)
                given = need if need * total <= due else due // total // MILLI * MILLI
                remainders[place] = due - given * total
                self._shares[place] += given
                left -= given
            if not needed_less:
                return self._units(left, remainders)

    def _units(self, left: int, remainders: Mapping[int, int]) -> int:
        """What flooring kept back, a GPU at a time to the largest remainder, then the oldest, then the smaller id."""
        siblings = self._siblings
        order = sorted(remainders, key=lambda place: (-remainders[place], siblings[place].age, siblings[place].id))
        for place in order:
            given = min(MILLI, self._need(place), left)
            self._shares[place] += given
            left -= given
        return left

    def _need(self, place: int) -> int:
        return self._siblings[place].need - self._shares[place]

    def _weights(self, places: Sequence[int]) -> dict[int, Fraction]:
        """Weights shifted by past use: w' = max(0, w + k(w − u)); plain ones where all of these are 0."""
        plain = {place: self._siblings[place].weight for place in places if self._siblings[place].weight > 0}
        total = sum(plain.values(), Fraction(0))
        if not self._sensitivity or not any(self._siblings[place].past_use for place in plain):
            return plain
        shifted = {}
        for place, weight in plain.items():
            part = weight / total
            shifted[place] = max(Fraction(0), part + self._sensitivity * (part - self._siblings[place].past_use))
        return shifted if any(shifted.values()) else plain


def _in_whole_numbers(weights: Mapping[int, Fraction]) -> dict[int, int]:
    """Weights in the same proportions."""
    common = lcm(*(weight.denominator for weight in weights.values()))
    return {place: weight.numerator * (common // weight.denominator) for place, weight in weights.items()}


def shares_of(
    parties: Parties, amounts: Mapping[str, int], requested: Mapping[str, Sequence[int]], usage_sensitivity: Fraction
) -> dict[str, list[int]]:
    """By GPU model, the share of each party in milli-GPU. ``requested`` by model and place, of projects."""
    return {
        model: _Level(parties, model, requested[model], usage_sensitivity).shares(amount)
        for model, amount in sorted(amounts.items())
    }


class _Level:
    """The division of one model, from the top down."""

    def __init__(self, parties: Parties, model: str, requested: Sequence[int], usage_sensitivity: Fraction) -> None:
        self._parties = parties
        self._model = model
        self._sensitivity = usage_sensitivity
        self._need = list(requested)
        self._past_use = [party.entitlement.past_use.get(model, Fraction(0)) for party in parties.all]
        for party in self._from_below():
            self._sum_up(party)

    def shares(self, amount: int) -> list[int]:
        shares = [0] * len(self._parties.all)
        below = [(ROOT, amount)]
        while below:
            parent, part = below.pop()
            parties = self._parties.children.get(parent, [])
            siblings = [self._sibling(party) for party in parties]
            for party, share in zip(parties, divide(part, siblings, self._sensitivity), strict=True):
                shares[party.index] = share
                if party.is_group:
                    below.append((party.index, share))
        return shares

    def _sibling(self, party: Party) -> Sibling:
        entitlement = party.entitlement
        return Sibling(
            guaranteed=party.guaranteed(self._model),
            need=self._need[party.index],
            weight=entitlement.weight,
            rank=entitlement.rank,
            past_use=self._past_use[party.index],
            age=party.created_order,
            id=party.id,
        )

    def _from_below(self) -> list[Party]:
        """Every party after all that are below it."""
        order: list[Party] = []
        below = [ROOT]
        while below:
            children = self._parties.children.get(below.pop(), [])
            order.extend(children)
            below.extend(party.index for party in children if party.is_group)
        return order[::-1]

    def _sum_up(self, party: Party) -> None:
        """Cut the need at the limit and add it to the group above; past use adds up, too."""
        limit = party.limit(self._model)
        if limit is not None:
            self._need[party.index] = min(self._need[party.index], limit)
        if party.parent != ROOT:
            self._need[party.parent] += self._need[party.index]
            self._past_use[party.parent] += self._past_use[party.index]
