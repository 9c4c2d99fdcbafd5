"""Where a job may run at all: models, pools, sources, and what the pool allows at most."""

from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from scheduling.engine.model import MILLI, Ask, Job, Project
from scheduling.engine.room import Bools, Room

_Key = tuple[frozenset[str] | None, frozenset[int], frozenset[str] | None, float | None]


@dataclass(slots=True)
class _Facts:
    """What never changes for jobs of one shape while a decision is made; asked for many times."""

    key: _Key
    room_shape: int
    shape: int
    models: Sequence[str]
    holders: Mapping[str, int]


class Eligibility:
    """Masks of rows by project and max runtime, kept for all jobs alike."""

    def __init__(self, room: Room, projects: Iterable[Project]) -> None:
        self._room = room
        self._projects = {project.id: project for project in projects}
        self._is_model = {model: room.row_model == at for at, model in enumerate(room.models)}
        self._bounds = np.array(
            [np.inf if node.max_runtime_bound_s is None else node.max_runtime_bound_s for node in room.nodes]
        )
        self._has_bounds = bool(np.isfinite(self._bounds).any())
        self._is_shared = np.array([node.holders is None for node in room.nodes], dtype=np.bool_)
        self._sources = np.array([node.source for node in room.nodes], dtype=object)
        dedicated: dict[int, list[int]] = defaultdict(list)
        for at, node in enumerate(room.nodes):
            for project in node.holders or ():
                dedicated[project].append(at)
        self._dedicated = {project: frozenset(dedicated.get(project, ())) for project in self._projects}
        self._masks: dict[_Key, Bools] = {}
        self._facts: dict[int, _Facts] = {}
        self._keys: dict[tuple[int, float | None], _Key] = {}
        self._of_shape: dict[Hashable, _Facts] = {}
        self._room_shapes: dict[Hashable, int] = {}
        self._of_room_shape: dict[int, tuple[Sequence[str], Mapping[str, int]]] = {}

    def rows(self, job: Job) -> Bools:
        """Rows that the project may use and whose pool allows the job's max runtime. Not to be changed."""
        return self._mask(self.key(job))

    def _mask(self, key: _Key) -> Bools:
        if key not in self._masks:
            sources, dedicated, models, runtime = key
            mask: Bools = self._is_shared.copy()
            mask[sorted(dedicated)] = True
            if sources is not None:
                mask &= np.isin(self._sources, sorted(sources))
            for model, is_model in self._is_model.items():
                if not model or (models is not None and model not in models):
                    mask &= ~is_model
            if runtime is not None:
                mask &= self._bounds >= runtime
            self._masks[key] = mask
        return self._masks[key]

    def key(self, job: Job) -> _Key:
        """Jobs with one key may use the same rows."""
        return self._of(job).key

    def is_model(self, model: str) -> Bools:
        """Rows of this model. Not to be changed."""
        rows: Bools = self._is_model[model]
        return rows

    def models(self, job: Job) -> Sequence[str]:
        """The models, by name, that job and project allow."""
        return self._of(job).models

    def allowed(self, job: Job) -> list[str]:
        """Models that the job and its project allow, whether or not there are nodes with them."""
        allowed = self._projects[job.project].gpu_models
        named = job.ask.gpu_models or frozenset(filter(None, self._room.models))
        return sorted(named if allowed is None else named & allowed)

    def shape(self, job: Job) -> int:
        """The number of what decides whether a job is allowed or refused: jobs of one shape are treated alike."""
        return self._of(job).shape

    def room_shape(self, job: Job) -> int:
        """The number of what decides whether a job has room, whoever's it is; a part of a GPU fits by project."""
        return self._of(job).room_shape

    def holders(self, job: Job) -> Mapping[str, int]:
        """By model, how many nodes could hold one member of the job if everything were free; enough ones only."""
        return self._of(job).holders

    def _of(self, job: Job) -> _Facts:
        facts = self._facts.get(job.id)
        if facts is None:
            facts = self._facts[job.id] = self._find(job)
        return facts

    def _find(self, job: Job) -> _Facts:
        project, ask = self._projects[job.project], job.ask
        key = self._key(project, job.max_runtime_s if self._has_bounds else None)
        is_part = 0 < ask.milli < MILLI
        of_room = ask, key, job.project if is_part else None
        room_shape = self._room_shapes.setdefault(of_room, len(self._room_shapes))
        of_job = job.project, room_shape, job.is_preemptible, job.is_emergency, job.max_runtime_s, job.avoid
        facts = self._of_shape.get(of_job)
        if facts is None:
            if room_shape not in self._of_room_shape:
                models = self._models(project, ask)
                self._of_room_shape[room_shape] = models, self._holders(key, ask, models)
            facts = _Facts(key, room_shape, len(self._of_shape), *self._of_room_shape[room_shape])
            self._of_shape[of_job] = facts
        return facts

    def _key(self, project: Project, bound: float | None) -> _Key:
        if (project.id, bound) not in self._keys:
            key = project.sources, self._dedicated[project.id], project.gpu_models, bound
            self._keys[project.id, bound] = key
        return self._keys[project.id, bound]

    def _models(self, project: Project, ask: Ask) -> Sequence[str]:
        allowed, asked = project.gpu_models, ask.gpu_models
        return [
            model
            for model in self._room.models
            if model and (not asked or model in asked) and (allowed is None or model in allowed)
        ]

    def _holders(self, key: _Key, ask: Ask, models: Iterable[str]) -> Mapping[str, int]:
        able = self._room.could_hold(ask) & self._mask(key)
        counts = {model: int((able & self._is_model[model]).sum()) for model in models}
        return {model: count for model, count in counts.items() if count >= ask.nodes}
