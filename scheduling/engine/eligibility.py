"""Where a job may run at all: models, pools, sources, and what the pool allows at most."""

from collections.abc import Hashable, Iterable

import numpy as np

from scheduling.engine.model import MILLI, Job, Project
from scheduling.engine.room import Bools, Room

_Key = tuple[frozenset[str] | None, frozenset[int], frozenset[str] | None, float | None]


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
        self._dedicated = {
            project: frozenset(at for at, node in enumerate(room.nodes) if node.holders and project in node.holders)
            for project in self._projects
        }
        self._masks: dict[_Key, Bools] = {}
        self._holding: dict[int, dict[str, int]] = {}
        self._shape_of: dict[int, int] = {}
        self._shapes: dict[Hashable, int] = {}
        self._room_shapes: dict[Hashable, int] = {}

    def rows(self, job: Job) -> Bools:
        """Rows that the project may use and whose pool allows the job's max runtime. Not to be changed."""
        key = self.key(job)
        if key not in self._masks:
            sources, dedicated, models, runtime = key
            mask = self._is_shared.copy()
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
        project = self._projects[job.project]
        runtime = job.max_runtime_s if self._has_bounds else None
        return project.sources, self._dedicated[project.id], project.gpu_models, runtime

    def is_model(self, model: str) -> Bools:
        return self._is_model[model]

    def models(self, job: Job) -> list[str]:
        """The models, by name, that job and project allow."""
        allowed = self._projects[job.project].gpu_models
        return [
            model
            for model in self._room.models
            if model
            and (not job.ask.gpu_models or model in job.ask.gpu_models)
            and (allowed is None or model in allowed)
        ]

    def allowed(self, job: Job) -> list[str]:
        """Models that the job and its project allow, whether or not there are nodes with them."""
        allowed = self._projects[job.project].gpu_models
        named = job.ask.gpu_models or frozenset(filter(None, self._room.models))
        return sorted(named if allowed is None else named & allowed)

    def shape(self, job: Job) -> int:
        """The number of what decides whether a job is allowed or refused: jobs of one shape are treated alike."""
        if job.id not in self._shape_of:
            ask, room = job.ask, self.room_shape(job)
            key = job.project, room, job.is_preemptible, job.is_emergency, job.max_runtime_s, job.avoid, ask.total_milli
            self._shape_of[job.id] = self._shapes.setdefault(key, len(self._shapes))
        return self._shape_of[job.id]

    def room_shape(self, job: Job) -> int:
        """The number of what decides whether a job has room, whoever's it is; a part of a GPU fits by project."""
        is_part = 0 < job.ask.milli < MILLI
        key = job.ask, self.key(job), job.project if is_part else None
        return self._room_shapes.setdefault(key, len(self._room_shapes))

    def holders(self, job: Job) -> dict[str, int]:
        """By model, how many nodes could hold one member of the job if everything were free; enough ones only."""
        key = self.shape(job)
        if key not in self._holding:
            able = self._room.could_hold(job.ask) & self.rows(job)
            counts = {model: int((able & self._is_model[model]).sum()) for model in self.models(job)}
            self._holding[key] = {model: count for model, count in counts.items() if count >= job.ask.nodes}
        return self._holding[key]
