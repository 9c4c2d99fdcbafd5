"""``instance/1``: from the file's document to an ``Instance``, with every fault named by its JSON path. Pure."""

from collections.abc import Mapping
from typing import Any

from kernel.documents import LARGEST_COUNT, BadInput, Taker, is_number, shown
from quotas.engine.instance import SCHEMA, Ask, GpuModel, Instance, Project, Rules, ScoreWeight, TierOrder

GRANULARITIES = (1, 8)


def read(document: Any) -> Instance:
    """Raises ``BadInput`` with all faults, each with its JSON path."""
    reader = _Reader()
    instance = reader.instance(document)
    if reader.faults:
        raise BadInput(reader.faults)
    return instance


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
        if is_number(parent[key]) and not _LEAST_WEIGHT <= value <= _MOST_WEIGHT:
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
        if is_number(value) and value in GRANULARITIES:
            return int(value)
        self._not(value, f"{at}.granularity", "1 or 8")
        return 1

    def _ask(self, row: Mapping[str, Any], at: str, granularity: int) -> Ask:
        self.only(row, at, ("min", "max", "suitability", "previous"))
        least, most = self._granules(row, "min", at, granularity), self._granules(row, "max", at, granularity)
        if least > most:
            self.fault(f"{at}.min", f"{least} is above max, {most}")
        suitability = self.number(row, "suitability", at)
        if not 0 <= suitability <= LARGEST_COUNT:
            self.fault(f"{at}.suitability", f"{shown(suitability)} is not from 0 to {LARGEST_COUNT}")
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


_OF_PROJECT = ("id", "tier", "score", "stage", "granularity", "max_total", "models", "pinned")
_LEAST_WEIGHT, _MOST_WEIGHT = 1e-6, 1e6
"""Beyond them a level, which is counted per weight, is no number that a plan could hold."""
_NO_RULES = Rules({}, TierOrder.WEIGHTED, ScoreWeight(0, 0), {}, 0)
