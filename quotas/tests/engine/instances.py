"""Instances for the solver's tests: small ones by hand, random ones by seed."""

import copy
import random
from dataclasses import dataclass
from typing import Any

RULES: dict[str, Any] = {
    "tier_weight": {"high": 4, "mid": 2, "low": 1},
    "tier_order": "weighted",
    "score_weight": {"base": 0.5, "slope": 0.01},
    "guarantee": {"high": True, "mid": True, "low": False},
    "churn_tolerance": 0.0,
}


def model(name: str = "h100", capacity: int = 16, reserve: int = 0) -> dict[str, Any]:
    return {"name": name, "capacity": capacity, "reserve": reserve}


def ask(most: int = 8, least: int = 0, suitability: float = 1.0, previous: int = 0) -> dict[str, Any]:
    return {"min": least, "max": most, "suitability": suitability, "previous": previous}


def project(name: str, **changes: Any) -> dict[str, Any]:
    """A mid-tier project that asks for up to 8 H100, one by one."""
    plain = {
        "id": name,
        "tier": "mid",
        "score": 50,
        "stage": "feasibility",
        "granularity": 1,
        "max_total": 8,
        "models": {"h100": ask()},
    }
    return {**plain, **changes}


def instance(
    projects: list[dict[str, Any]], models: list[dict[str, Any]] | None = None, **rules: Any
) -> dict[str, Any]:
    return {
        "schema": "instance/1",
        "gpu_models": models or [model()],
        "projects": projects,
        "rules": {**copy.deepcopy(RULES), **rules},
    }


@dataclass(frozen=True, slots=True)
class Shape:
    """What a random instance is like; ``supply`` is the capacity as a part of what is asked for."""

    projects: tuple[int, int] = (5, 60)
    models: tuple[int, int] = (1, 6)
    floors: float = 0.1
    pins: float = 0.05
    supply: tuple[float, ...] = (0.1, 0.3, 0.5, 0.8, 1.0)
    tolerance: tuple[float, ...] = (0.0, 0.05, 0.2)
    nodes: float = 0.4


def random_instance(seed: int, shape: Shape | None = None) -> dict[str, Any]:
    """Deterministic by seed; floors may be more than there is."""
    shape, chance = shape or Shape(), random.Random(seed)
    names = [f"m{place}" for place in range(chance.randint(*shape.models))]
    projects = [_project(chance, place, names, shape) for place in range(chance.randint(*shape.projects))]
    asked = {name: sum(row["models"].get(name, ask(0))["max"] for row in projects) for name in names}
    supply = chance.choice(shape.supply)
    capacities = {name: int(asked[name] * supply * chance.uniform(0.4, 1.0)) for name in names}
    return instance(
        projects,
        [model(name, capacity, capacity * 8 // 100) for name, capacity in capacities.items()],
        tier_order=chance.choice(["weighted", "strict"]),
        churn_tolerance=chance.choice(shape.tolerance),
    )


def _project(chance: random.Random, place: int, names: list[str], shape: Shape) -> dict[str, Any]:
    granularity = 8 if chance.random() < shape.nodes else 1
    tier = chance.choices(["high", "mid", "low"], [1, 2, 2])[0]
    total = granularity * chance.randint(1, 12 if granularity == 8 else 32)
    chosen = chance.sample(names, chance.randint(1, min(len(names), 4)))
    models = {name: _ask(chance, granularity, total) for name in chosen}
    room = total
    for row in models.values():
        if tier != "low" and row["suitability"] > 0 and chance.random() < shape.floors:
            row["min"] = min(row["max"], granularity * chance.randint(0, room // granularity))
            room -= row["min"]
    pinned = {}
    if chance.random() < shape.pins:
        name = chance.choice(chosen)
        pinned[name] = granularity * chance.randint(0, models[name]["max"] // granularity + 1)
    return project(
        f"p{place:03d}",
        tier=tier,
        score=round(chance.uniform(0, 100), 1),
        granularity=granularity,
        max_total=total,
        models=models,
        pinned=pinned,
    )


def _ask(chance: random.Random, granularity: int, total: int) -> dict[str, Any]:
    most = granularity * chance.randint(1, total // granularity)
    suitability = round(chance.uniform(0.2, 1.3), 2) if chance.random() > 0.03 else 0.0
    previous = granularity * chance.randint(0, most // granularity) if chance.random() < 0.7 else 0
    return ask(most, 0, suitability, previous)
