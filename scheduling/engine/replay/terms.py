"""``--policy``: the policy, quotas and reserve of a replay, as a JSON document. Pure."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from kernel.documents import BadInput, shown
from scheduling.engine.model import NONE, Amounts, Group, Policy, Project
from scheduling.engine.scenario.entitlements import groups_of, policy_of, projects_of
from scheduling.engine.scenario.names import numbered
from scheduling.engine.scenario.taking import Row, SchedulerTaker, is_absent

HALF_LIFE_S = 7 * 86_400


@dataclass(frozen=True, slots=True)
class Terms:
    """``checkpoint_interval_s`` None: no job saves anything. ``projects`` are all that have jobs; those that the
    document does not name have the defaults of a scenario."""

    policy: Policy = field(default_factory=Policy)
    projects: tuple[Project, ...] = ()
    groups: tuple[Group, ...] = ()
    reserve: Amounts = field(default_factory=lambda: NONE)
    checkpoint_interval_s: float | None = None
    half_life_s: float = HALF_LIFE_S


def read_terms(document: Any, projects: Iterable[str], models: Iterable[str]) -> Terms:
    """``projects``: those of the workload. Raises ``BadInput`` with all faults, each with its JSON path."""
    reader = _Reader()
    terms = reader.terms(document, sorted(set(projects)), sorted(set(models)))
    if reader.faults:
        raise BadInput(reader.faults)
    return terms


class _Reader(SchedulerTaker):
    def terms(self, document: Any, names: list[str], models: list[str]) -> Terms:
        if not isinstance(document, dict):
            self.fault("$", f"{shown(document)} is not an object")
            return Terms()
        group_rows = self.named(self.optional_rows(document, "groups", "$"), "name")
        project_rows = self.named(self.optional_rows(document, "projects", "$"), "name")
        named = {name for name, _at, _row in project_rows}
        project_rows += [(name, "$", {}) for name in names if name not in named]
        owners = numbered(name for name, _at, _row in [*group_rows, *project_rows])
        groups = groups_of(self, group_rows, owners)
        return Terms(
            policy=self._policy(document),
            projects=projects_of(self, project_rows, owners, groups, models),
            groups=groups,
            reserve=self.amounts(document, "reserve", "$"),
            checkpoint_interval_s=self._positive(document, "checkpoint_interval_s"),
            half_life_s=self._positive(document, "half_life_s") or HALF_LIFE_S,
        )

    def _policy(self, document: Row) -> Policy:
        usual = Policy()
        if is_absent(document, "usage_sensitivity"):
            return policy_of(self, document, "$", usual.usage_sensitivity)
        return policy_of(self, document, "$", self.exact(document, "usage_sensitivity", "$", 0))

    def _positive(self, document: Row, key: str) -> float | None:
        value = self.duration(document, key, "$")
        if value == 0:
            self.fault(f"$.{key}", "0 is not a number of seconds above 0")
            return None
        return value


def with_past_use(projects: Iterable[Project], used: Mapping[int, Mapping[str, Any]]) -> tuple[Project, ...]:
    """The projects with what they used so far."""
    return tuple(
        replace(project, entitlement=replace(project.entitlement, past_use=used[project.id]))
        if project.id in used
        else project
        for project in projects
    )
