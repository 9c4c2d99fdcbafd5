"""``instance/1``: from the file's document to an ``Instance``, with every fault named by its JSON path. Pure."""

import hashlib
import json
import math
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from quotas.engine.instance import SCHEMA, Ask, GpuModel, Instance, Project, Rules, ScoreWeight, TierOrder

GRANULARITIES = (1, 8)
MOST_GPUS = 10**7
"""Bounds every count, so that sums stay exact in a float."""

_ALIKE = 0.75
"""How alike two keys are that are taken for one, from 0 to 1."""


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing that cannot be taken: where in the document, and why."""

    path: str
    text: str

    def __str__(self) -> str:
        return one_line(f"{self.path}: {self.text}")


class BadInput(ValueError):
    """The document is no instance (or no plan); ``faults`` names everything that is wrong with it."""

    def __init__(self, faults: list[Fault]) -> None:
        super().__init__("\n".join(map(str, faults)))
        self.faults = faults


def parse(text: str) -> Any:
    """JSON as it is meant: no key twice, no NaN. Raises ``BadInput``."""
    twice: list[tuple[dict[str, Any], str]] = []
    constants: list[str] = []

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            twice.extend((found, key) for key, times in Counter(key for key, _ in pairs).items() if times > 1)
        return found

    def constant(name: str) -> Any:
        constants.append(name)
        return float(name)

    try:
        document = json.loads(text, object_pairs_hook=once, parse_constant=constant)
    except (ValueError, RecursionError) as error:
        raise BadInput([Fault("$", f"not JSON: {error}")]) from error
    if twice or constants:
        raise BadInput(list(_no_json(document, twice)))
    return document


def digest(document: Any) -> str:
    """SHA-256 over the document in canonical form: sorted keys, no blanks."""
    canonical = json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(canonical.encode("utf-8", "surrogatepass")).hexdigest()


def read(document: Any) -> Instance:
    """Raises ``BadInput`` with all faults, each with its JSON path."""
    reader = _Reader()
    instance = reader.instance(document)
    if reader.faults:
        raise BadInput(reader.faults)
    return instance


class Taker:
    """Takes values out of a document and notes what is wrong with them; it goes on, to find every fault."""

    def __init__(self) -> None:
        self.faults: list[Fault] = []

    def fault(self, path: str, text: str) -> None:
        self.faults.append(Fault(path, text))

    def mapping(self, parent: Mapping[str, Any], key: str, path: str) -> Mapping[str, Any]:
        value = self._get(parent, key, path)
        if isinstance(value, dict):
            return value
        self._not(value, f"{path}.{key}", "an object")
        return _NOTHING

    def rows(self, parent: Mapping[str, Any], key: str, path: str) -> list[tuple[str, Mapping[str, Any]]]:
        """The objects of a list, each with its path."""
        value = self._get(parent, key, path)
        if not isinstance(value, list):
            self._not(value, f"{path}.{key}", "a list")
            return []
        placed = [(f"{path}.{key}[{index}]", row) for index, row in enumerate(value)]
        for at, row in placed:
            if not isinstance(row, dict):
                self.fault(at, f"{shown(row)} is not an object")
        return [(at, row) for at, row in placed if isinstance(row, dict)]

    def text(self, parent: Mapping[str, Any], key: str, path: str) -> str:
        value = self._get(parent, key, path)
        if isinstance(value, str) and value and not _has_half(value):
            return value
        self._not(value, f"{path}.{key}", "a text that is not empty")
        return ""

    def count(self, parent: Mapping[str, Any], key: str, path: str) -> int:
        """A whole number from 0."""
        value = self._get(parent, key, path)
        if _is_number(value) and value == int(value) and 0 <= value <= MOST_GPUS:
            return int(value)
        self._not(value, f"{path}.{key}", f"a whole number from 0 to {MOST_GPUS}")
        return 0

    def number(self, parent: Mapping[str, Any], key: str, path: str) -> float:
        value = self._get(parent, key, path)
        if _is_number(value):
            return float(value)
        self._not(value, f"{path}.{key}", f"a number from {-_LARGEST:.0e} to {_LARGEST:.0e}")
        return 0.0

    def flag(self, parent: Mapping[str, Any], key: str, path: str) -> bool:
        value = self._get(parent, key, path)
        if isinstance(value, bool):
            return value
        self._not(value, f"{path}.{key}", "true or false")
        return False

    def only(self, row: Mapping[str, Any], at: str, known: tuple[str, ...]) -> None:
        """A key that is nearly one of these is a slip of the pen, such as a pin that would be lost without a word.
        Others are somebody's notes: they are left alone.
        """
        for key in row:
            if key not in known and (meant := get_close_matches(key, known, n=1, cutoff=_ALIKE)):
                self.fault(f"{at}.{key}", f'unknown; perhaps "{meant[0]}" is meant')

    def schema(self, document: Any, expected: str) -> bool:
        """Whether this is an object of that schema; a fault otherwise."""
        if not isinstance(document, dict):
            self.fault("$", f"{shown(document)} is not an object")
            return False
        if document.get("schema") != expected:
            self.fault("$.schema", f'{shown(document.get("schema"))} is not "{expected}"')
        return True

    def _get(self, parent: Mapping[str, Any], key: str, path: str) -> Any:
        if key in parent:
            return parent[key]
        if parent is not _NOTHING:
            self.fault(f"{path}.{key}", "missing")
        return _MISSING

    def _not(self, value: Any, path: str, wanted: str) -> None:
        if value is not _MISSING:
            self.fault(path, f"{shown(value)} is not {wanted}")


class _Reader(Taker):
    _is_weighable = True
    """Whether the rules have no fault, which would show again in every project's weight."""

    def instance(self, document: Any) -> Instance:
        if not self.schema(document, SCHEMA):
            return Instance((), (), _NO_RULES)
        self.only(document, "$", ("schema", "gpu_models", "projects", "rules"))
        rules = self._rules(self.mapping(document, "rules", "$"))
        self._is_weighable = not self.faults
        models = tuple(self._model(row, at) for at, row in self.rows(document, "gpu_models", "$"))
        self._once([model.name for model in models], "gpu_models", "name")
        known = {model.name for model in models}
        projects = tuple(self._project(row, at, rules, known) for at, row in self.rows(document, "projects", "$"))
        self._once([project.id for project in projects], "projects", "id")
        return Instance(models, projects, rules)

    def _once(self, names: list[str], key: str, field: str) -> None:
        seen: set[str] = set()
        for index, name in enumerate(names):
            if name and name in seen:
                self.fault(f"$.{key}[{index}].{field}", f"{shown(name)} is there twice")
            seen.add(name)

    def _model(self, row: Mapping[str, Any], at: str) -> GpuModel:
        self.only(row, at, ("name", "capacity", "reserve"))
        return GpuModel(self.text(row, "name", at), self.count(row, "capacity", at), self.count(row, "reserve", at))

    def _rules(self, row: Mapping[str, Any]) -> Rules:
        at = "$.rules"
        self.only(row, at, ("tier_weight", "tier_order", "score_weight", "guarantee", "churn_tolerance"))
        weights = self.mapping(row, "tier_weight", at)
        tier_weight = {tier: self._positive(weights, tier, f"{at}.tier_weight") for tier in weights}
        guarantees = self.mapping(row, "guarantee", at)
        guarantee = {tier: self.flag(guarantees, tier, f"{at}.guarantee") for tier in guarantees}
        score = self.mapping(row, "score_weight", at)
        self.only(score, f"{at}.score_weight", ("base", "slope"))
        part = ScoreWeight(*(self.number(score, key, f"{at}.score_weight") for key in ("base", "slope")))
        tolerance = self.number(row, "churn_tolerance", at)
        if not 0 <= tolerance <= 1:
            self.fault(f"{at}.churn_tolerance", f"{shown(tolerance)} is not from 0 to 1")
        return Rules(tier_weight, self._order(row, at), part, guarantee, tolerance)

    def _order(self, row: Mapping[str, Any], at: str) -> TierOrder:
        value = self.text(row, "tier_order", at)
        if value in set(TierOrder):
            return TierOrder(value)
        if value:
            self.fault(f"{at}.tier_order", f'{shown(value)} is not "weighted" or "strict"')
        return TierOrder.WEIGHTED

    def _positive(self, parent: Mapping[str, Any], key: str, path: str) -> float:
        value = self.number(parent, key, path)
        if _is_number(parent[key]) and not _LEAST_WEIGHT <= value <= _MOST_WEIGHT:
            self.fault(f"{path}.{key}", f"{shown(value)} is not from {_LEAST_WEIGHT} to {_MOST_WEIGHT:.0e}")
        return value

    def _project(self, row: Mapping[str, Any], at: str, rules: Rules, known: set[str]) -> Project:
        self.only(row, at, _OF_PROJECT)
        tier, granularity = self._tier(row, at, rules), self._granularity(row, at)
        asks = self.mapping(row, "models", at)
        models = {
            name: self._ask(self.mapping(asks, name, f"{at}.models"), f"{at}.models.{name}", granularity)
            for name in asks
        }
        for name in (name for name in models if name not in known):
            self.fault(f"{at}.models.{name}", "not among gpu_models")
        project = Project(
            id=self.text(row, "id", at),
            tier=tier,
            score=self.number(row, "score", at),
            stage=self.text(row, "stage", at),
            granularity=granularity,
            max_total=self._granules(row, "max_total", at, granularity),
            models=models,
            pinned=self._pins(row, at, models.keys(), granularity),
        )
        self._check_whole(project, at, rules)
        return project

    def _check_whole(self, project: Project, at: str, rules: Rules) -> None:
        """What only the whole project shows."""
        if sum(ask.min for ask in project.models.values()) > project.max_total:
            self.fault(f"{at}.max_total", f"{project.max_total} is less than the sum of the floors")
        floors = {name: ask for name, ask in project.models.items() if ask.min}
        for name, ask in floors.items():
            if ask.suitability <= 0:
                self.fault(f"{at}.models.{name}.min", f"a floor of {ask.min} needs a suitability above 0")
            if project.tier in rules.tier_weight and not rules.guarantee.get(project.tier, True):
                self.fault(
                    f"{at}.models.{name}.min", f'a floor of {ask.min} needs a tier with guarantee, not "{project.tier}"'
                )
        if self._is_weighable and project.tier in rules.tier_weight:
            weight = rules.weight(project)
            if not _LEAST_WEIGHT <= weight <= _MOST_WEIGHT:
                limits = f"not from {_LEAST_WEIGHT} to {_MOST_WEIGHT:.0e}"
                self.fault(f"{at}.score", f"{shown(project.score)} gives a weight of {shown(weight)}, {limits}")

    def _tier(self, row: Mapping[str, Any], at: str, rules: Rules) -> str:
        tier = self.text(row, "tier", at)
        for key, known in (("tier_weight", rules.tier_weight), ("guarantee", rules.guarantee)):
            if tier and tier not in known:
                self.fault(f"{at}.tier", f"{shown(tier)} is not in rules.{key}")
        return tier

    def _granularity(self, row: Mapping[str, Any], at: str) -> int:
        value = self._get(row, "granularity", at)
        if _is_number(value) and value in GRANULARITIES:
            return int(value)
        self._not(value, f"{at}.granularity", "1 or 8")
        return 1

    def _ask(self, row: Mapping[str, Any], at: str, granularity: int) -> Ask:
        self.only(row, at, ("min", "max", "suitability", "previous"))
        least, most = self._granules(row, "min", at, granularity), self._granules(row, "max", at, granularity)
        if least > most:
            self.fault(f"{at}.min", f"{least} is above max, {most}")
        suitability = self.number(row, "suitability", at)
        if not 0 <= suitability <= MOST_GPUS:
            self.fault(f"{at}.suitability", f"{shown(suitability)} is not from 0 to {MOST_GPUS}")
        return Ask(least, most, suitability, self.count(row, "previous", at))

    def _pins(self, row: Mapping[str, Any], at: str, listed: Any, granularity: int) -> dict[str, int]:
        pins = self.mapping(row, "pinned", at) if "pinned" in row else {}
        for name in pins:
            if name not in listed:
                self.fault(f"{at}.pinned.{name}", "not among the project's models")
        return {name: self._granules(pins, name, f"{at}.pinned", granularity) for name in pins}

    def _granules(self, parent: Mapping[str, Any], key: str, path: str, granularity: int) -> int:
        value = self.count(parent, key, path)
        if value % granularity:
            self.fault(f"{path}.{key}", f"{value} is not a multiple of the granularity {granularity}")
        return value


def shown(value: Any) -> str:
    """The value as JSON, cut where it is long."""
    text = one_line(json.dumps(value, ensure_ascii=False, default=str))
    return text if len(text) <= 60 else f"{text[:57]}…"


def one_line(text: str) -> str:
    """With every character that does not print, a line's end before all, as its escape."""
    return "".join(part if part.isprintable() else part.encode("unicode_escape").decode() for part in text)


def _has_half(text: str) -> bool:
    """Half of a surrogate pair is JSON, but no text that a file can hold."""
    return any("\ud800" <= part <= "\udfff" for part in text)


def _is_number(value: Any) -> bool:
    """A finite number of a size that a float holds exactly enough."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return abs(value) <= _LARGEST and not math.isnan(value)


def _no_json(document: Any, twice: list[tuple[dict[str, Any], str]]) -> Iterator[Fault]:
    """Where in the document keys are there twice, and numbers that are none."""
    keys: dict[int, list[str]] = {}
    for found, key in twice:
        keys.setdefault(id(found), []).append(key)
    waiting = [("$", document)]
    while waiting:
        at, value = waiting.pop()
        if isinstance(value, dict):
            for key in keys.get(id(value), ()):
                yield Fault(f"{at}.{key}", "this key is there twice in one object")
            waiting += reversed([(f"{at}.{key}", inner) for key, inner in value.items()])
        elif isinstance(value, list):
            waiting += reversed([(f"{at}[{place}]", inner) for place, inner in enumerate(value)])
        elif isinstance(value, float) and not math.isfinite(value):
            yield Fault(at, f"{shown(value)} is not a number that JSON knows")


_LARGEST = 10**15
_OF_PROJECT = ("id", "tier", "score", "stage", "granularity", "max_total", "models", "pinned")
_LEAST_WEIGHT, _MOST_WEIGHT = 1e-6, 1e6
"""Beyond them a level, which is counted per weight, is no number that a plan could hold."""
_MISSING = object()
_NOTHING: Mapping[str, Any] = {}
"""In place of an object that is not there: what it lacks is no fault of its own."""
_NO_RULES = Rules({}, TierOrder.WEIGHTED, ScoreWeight(0, 0), {}, 0)
