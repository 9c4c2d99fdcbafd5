"""``scenario/1``: from the file's document to a snapshot, a policy and an instant. Pure."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from kernel.documents import BadInput, shown
from scheduling.engine.model import (
    NONE,
    Amounts,
    Device,
    Earmark,
    Node,
    NodeState,
    Policy,
    Snapshot,
    Window,
)
from scheduling.engine.scenario.entitlements import Named, groups_of, policy_of, projects_of
from scheduling.engine.scenario.jobs import jobs_of
from scheduling.engine.scenario.names import Names, numbered
from scheduling.engine.scenario.taking import MEBIBYTE, Row, SchedulerTaker, is_absent

SCHEMA = "scenario/1"
_DEVICES_ON_A_NODE = 1024


@dataclass(frozen=True, slots=True)
class Scenario:
    """``has_nodes``: without them only shares can be said."""

    snapshot: Snapshot
    policy: Policy
    now: float
    names: Names
    has_nodes: bool


def read(document: Any) -> Scenario:
    """Raises ``BadInput`` with all faults, each with its JSON path."""
    reader = _Reader()
    scenario = reader.scenario(document)
    if reader.faults:
        raise BadInput(reader.faults)
    return scenario


class _Reader(SchedulerTaker):
    def scenario(self, document: Any) -> Scenario:
        if not self.schema(document, SCHEMA):
            return Scenario(Snapshot(), Policy(), 0, Names({}, {}, {}), has_nodes=False)
        rows = {
            key: self.named(self.optional_rows(document, key, "$"), name)
            for key, name in (("nodes", "name"), ("groups", "name"), ("projects", "name"), ("jobs", "id"))
        }
        names = Names(
            nodes=numbered(_names(rows["nodes"])),
            owners=numbered([*_names(rows["groups"]), *_names(rows["projects"])]),
            jobs=numbered(_names(rows["jobs"])),
        )
        self._one_of_nodes_and_capacity(document)
        return Scenario(
            snapshot=self._snapshot(document, rows, names),
            policy=self._policy(document),
            now=self.seconds(document, "now", "$") or 0,
            names=names,
            has_nodes=bool(rows["nodes"]),
        )

    def _one_of_nodes_and_capacity(self, document: Row) -> None:
        if is_absent(document, "nodes") and is_absent(document, "capacity"):
            self.fault("$.nodes", "missing; give nodes, or only a capacity by GPU model")
        if document.get("nodes") and not is_absent(document, "capacity"):
            self.fault("$.capacity", f"{shown(document['capacity'])} besides nodes; give only one of them")

    def _snapshot(self, document: Row, rows: dict[str, Named], names: Names) -> Snapshot:
        nodes = self._nodes(rows["nodes"], names)
        capacity = None if is_absent(document, "capacity") else self.amounts(document, "capacity", "$")
        groups = groups_of(self, rows["groups"], names.owners)
        models = _models(nodes, capacity or NONE, rows["projects"])
        projects = projects_of(self, rows["projects"], names.owners, groups, models)
        by_project = {project.name: project.id for project in projects}
        return Snapshot(
            nodes=nodes,
            jobs=jobs_of(self, rows["jobs"], names.jobs, nodes, by_project),
            projects=projects,
            groups=groups,
            reserve=self.amounts(document, "reserve", "$"),
            earmarks=self._earmarks(document, names),
            windows=self._windows(document, by_project),
            capacity=capacity,
        )

    def _nodes(self, rows: Named, names: Names) -> tuple[Node, ...]:
        nodes = []
        for name, at, row in rows:
            gpus = self.count(row, "gpus", at)
            if gpus > _DEVICES_ON_A_NODE:
                self.fault(f"{at}.gpus", f"{gpus} is more than {_DEVICES_ON_A_NODE} on one node")
                gpus = 0
            model = self.text(row, "gpu_model", at) if gpus else ""
            first = names.nodes[name] * _DEVICES_ON_A_NODE
            nodes.append(
                Node(
                    id=names.nodes[name],
                    name=name,
                    devices=tuple(Device(first + index, model) for index in range(gpus)),
                    state=self.choice(row, "state", at, NodeState.UP),
                    cpus=None if is_absent(row, "cpus") else self.count(row, "cpus", at),
                    memory_bytes=self._bytes(row, "memory_mb", at),
                    gpu_memory_bytes=self._bytes(row, "gpu_memory_mb", at) or 0,
                    interconnect=self.optional_text(row, "interconnect", at),
                    pool=self.optional_text(row, "pool", at),
                )
            )
        return tuple(nodes)

    def _bytes(self, row: Row, key: str, at: str) -> int | None:
        return None if is_absent(row, key) else self.count(row, key, at) * MEBIBYTE

    def _policy(self, document: Row) -> Policy:
        sensitivity = self.exact(document, "usage_sensitivity", "$", 0)
        return policy_of(self, self.optional_mapping(document, "policy", "$"), "$.policy", sensitivity)

    def _earmarks(self, document: Row, names: Names) -> tuple[Earmark, ...]:
        return tuple(
            Earmark(
                job=self.known(row, "job", at, names.jobs),
                node=self.known(row, "node", at, names.nodes),
                milli=self.milli(row, "gpus", at),
            )
            for at, row in self.optional_rows(document, "earmarks", "$")
        )

    def _windows(self, document: Row, projects: dict[str, int]) -> tuple[Window, ...]:
        return tuple(
            self._window(name, at, row, projects)
            for name, at, row in self.named(self.optional_rows(document, "windows", "$"), "id")
        )

    def _window(self, name: str, at: str, row: Row, projects: dict[str, int]) -> Window:
        start, end = (self._instant(row, key, at) for key in ("start", "end"))
        if end < start:
            self.fault(f"{at}.end", f"{shown(row['end'])} is before the start, {shown(row['start'])}")
        return Window(
            id=name,
            project=self.known(row, "project", at, projects),
            gpu_model=self.text(row, "gpu_model", at),
            milli=self.milli(row, "gpus", at),
            start=start,
            end=end,
        )

    def _instant(self, row: Row, key: str, at: str) -> float:
        if is_absent(row, key):
            self.fault(f"{at}.{key}", "missing")
        return self.seconds(row, key, at) or 0


def _names(rows: Named) -> list[str]:
    return [name for name, _at, _row in rows]


def _models(nodes: Iterable[Node], capacity: Amounts, projects: Named) -> set[str]:
    """Every GPU model that is named: by nodes, the capacity and projects."""
    found = {device.gpu_model for node in nodes for device in node.devices} | set(capacity)
    for _name, _at, row in projects:
        for key in ("guaranteed", "limit", "requested", "past_use"):
            value = row.get(key)
            found |= set(value) if isinstance(value, dict) else set()
    return found
