"""Names of a file become numbers of the engine, in the order of the names, so that ties by id hold."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass


def numbered(names: Iterable[str]) -> dict[str, int]:
    """From 1, sorted."""
    return {name: number for number, name in enumerate(sorted(set(names)), start=1)}


@dataclass(frozen=True, slots=True)
class Names:
    """Name → number. ``owners``: projects and groups in one sequence, because they are siblings."""

    nodes: Mapping[str, int]
    owners: Mapping[str, int]
    jobs: Mapping[str, int]

    @property
    def node_of(self) -> dict[int, str]:
        return _turned(self.nodes)

    @property
    def owner_of(self) -> dict[int, str]:
        return _turned(self.owners)

    @property
    def job_of(self) -> dict[int, str]:
        return _turned(self.jobs)


def _turned(numbers: Mapping[str, int]) -> dict[int, str]:
    return {number: name for name, number in numbers.items()}
