"""Projects, groups and the policy, as scenarios and replays write them."""

from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any

from kernel.documents import is_number, shown
from scheduling.engine.model import Entitlement, Group, Policy, Project
from scheduling.engine.scenario.taking import Row, SchedulerTaker, is_absent, listed

Named = list[tuple[str, str, Row]]


def groups_of(taker: SchedulerTaker, rows: Named, owners: Mapping[str, int]) -> tuple[Group, ...]:
    names = {name: owners[name] for name, _at, _row in rows}
    groups = tuple(
        Group(owners[name], name, _parent(taker, row, "parent", at, names), entitlement(taker, row, at, ()))
        for name, at, row in rows
    )
    _refuse_circles(taker, groups, {owners[name]: at for name, at, _row in rows})
    return groups


def projects_of(
    taker: SchedulerTaker, rows: Named, owners: Mapping[str, int], groups: Iterable[Group], models: Iterable[str]
) -> tuple[Project, ...]:
    """``models``: those that a past use without a model is about."""
    known = {group.name: group.id for group in groups}
    every = sorted(models)
    return tuple(
        Project(
            id=owners[name],
            name=name,
            group=_parent(taker, row, "group", at, known),
            entitlement=entitlement(taker, row, at, every),
            created_order=taker.whole(row, "created_order", at),
            requested=None if is_absent(row, "requested") else taker.amounts(row, "requested", at),
        )
        for name, at, row in rows
    )


def entitlement(taker: SchedulerTaker, row: Row, at: str, models: Iterable[str]) -> Entitlement:
    return Entitlement(
        guaranteed=taker.amounts(row, "guaranteed", at),
        limit=taker.amounts(row, "limit", at),
        weight=taker.exact(row, "weight", at, 1),
        rank=taker.whole(row, "rank", at),
        past_use=_past_use(taker, row, at, models),
    )


def policy_of(taker: SchedulerTaker, row: Row, at: str, sensitivity: Fraction) -> Policy:
    """Absent fields keep their defaults."""
    usual = Policy()
    starvation, grace = taker.duration(row, "starvation_after_s", at), taker.duration(row, "grace_s", at)
    return Policy(
        starvation_after_s=usual.starvation_after_s if starvation is None else starvation,
        grace_s=usual.grace_s if grace is None else grace,
        interruptions_per_day=taker.optional_count(row, "interruptions_per_day", at, usual.interruptions_per_day),
        usage_sensitivity=sensitivity,
    )


def _past_use(taker: SchedulerTaker, row: Row, at: str, models: Iterable[str]) -> dict[str, Fraction]:
    """A number is about every model."""
    value: Any = row.get("past_use")
    if isinstance(value, dict):
        return {model: taker.exact(value, model, f"{at}.past_use", 0) for model in value}
    if value is not None and not is_number(value):
        taker.fault(f"{at}.past_use", f"{shown(value)} is not a number from 0, or an object of them by GPU model")
        return {}
    return dict.fromkeys(models, taker.exact(row, "past_use", at, 0))


def _parent(taker: SchedulerTaker, row: Row, key: str, at: str, groups: Mapping[str, int]) -> int | None:
    if is_absent(row, key):
        return None
    name = taker.text(row, key, at)
    if name and name not in groups:
        taker.fault(f"{at}.{key}", f"{shown(name)} is no group; there is {listed(groups)}")
    return groups.get(name)


def _refuse_circles(taker: SchedulerTaker, groups: tuple[Group, ...], places: Mapping[int, str]) -> None:
    parents = {group.id: group.parent for group in groups}
    for group in groups:
        above, steps = group.parent, 0
        while above is not None and above != group.id and steps <= len(parents):
            above, steps = parents[above], steps + 1
        if above == group.id:
            taker.fault(f"{places[group.id]}.parent", f"{shown(group.name)} is above itself")
