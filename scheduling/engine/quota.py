"""What projects use, and whether one more job stays inside guarantee, limit and reserve."""

from collections import defaultdict

from scheduling.engine.model import Project, QueuedJob, Snapshot
from scheduling.engine.reasons import Refusal, over_guarantee, over_limit, over_reserve, over_resource


class Ledger:
    """Use by project and model, running jobs and those started in this decision. Changed by ``add`` alone."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._quotas = snapshot.quotas
        self._reserve = snapshot.reserve_milli
        self._models: dict[int, list[str]] = defaultdict(list)
        for project, model in sorted(snapshot.quotas):
            self._models[project].append(model)
        self._free: dict[str, int] = defaultdict(int)
        for node in snapshot.nodes:
            for device in node.devices if node.counts else ():
                self._free[device.gpu_model] += device.free_milli
        self._used: dict[tuple[int, str], int] = defaultdict(int)
        self._protected: dict[tuple[int, str], int] = defaultdict(int)
        self._cpus: dict[int, int] = defaultdict(int)
        self._memory: dict[int, int] = defaultdict(int)
        for job in snapshot.running:
            self._count(job.project, job.gpu_model, job.milli_gpus, is_preemptible=job.is_preemptible)
            self._cpus[job.project] += job.cpus
            self._memory[job.project] += job.memory_bytes

    def models(self, job: QueuedJob) -> list[str]:
        """The models on which the project has a quota and the job may run, by name."""
        held = self._models.get(job.project, [])
        return [model for model in held if not job.gpu_models or model in job.gpu_models]

    def refusal(self, job: QueuedJob, project: Project, model: str) -> Refusal | None:
        """Why the quota does not allow the job on this model now; None if it does."""
        key, asked = (job.project, model), job.milli_gpus
        quota = self._quotas[key]
        if quota.limit_milli is not None and self._used[key] + asked > quota.limit_milli:
            return over_limit(project, model, asked, quota.limit_milli, self._used[key])
        if not job.is_preemptible and self._protected[key] + asked > quota.guaranteed_milli:
            return over_guarantee(project, model, asked, quota.guaranteed_milli, self._protected[key])
        return self._refused_resource(job, project) or self._refused_reserve(job, model)

    def add(self, job: QueuedJob, model: str) -> None:
        """Count a job that starts."""
        self._count(job.project, model, job.milli_gpus, is_preemptible=job.is_preemptible)
        self._free[model] -= job.milli_gpus
        self._cpus[job.project] += job.cpus * job.nodes
        self._memory[job.project] += job.memory_bytes * job.nodes

    def _count(self, project: int, model: str, milli: int, *, is_preemptible: bool) -> None:
        self._used[(project, model)] += milli
        if not is_preemptible:
            self._protected[(project, model)] += milli

    def _refused_resource(self, job: QueuedJob, project: Project) -> Refusal | None:
        """CPU and memory, only where a quota on them exists."""
        asked = [
            ("cpu", job.cpus * job.nodes, project.cpu_limit, self._cpus[project.id]),
            ("memory", job.memory_bytes * job.nodes, project.memory_limit_bytes, self._memory[project.id]),
        ]
        for resource, amount, limit, used in asked:
            if limit is not None and amount and used + amount > limit:
                return over_resource(project, resource, amount, limit, used)
        return None

    def _refused_reserve(self, job: QueuedJob, model: str) -> Refusal | None:
        """The reserve is what must stay free of ordinary jobs, on machines that are there."""
        reserve, free = self._reserve.get(model, 0), self._free[model]
        if reserve and free - reserve < job.milli_gpus <= free and job.milli_gpus:
            return over_reserve(model, job.milli_gpus, reserve, free)
        return None
