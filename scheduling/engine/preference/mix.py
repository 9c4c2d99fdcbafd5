"""What is usually asked for: the jobs that the room left should stay good for."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace

from scheduling.engine.model import Ask


@dataclass(frozen=True, slots=True)
class Mix:
    """How often each ask comes; the weights sum to 1, or there are none. Members of gangs count one by one."""

    parts: tuple[tuple[Ask, float], ...] = ()

    @classmethod
    def of(cls, asks: Iterable[Ask]) -> "Mix":
        """The distribution of these asks; the order in which they come does not matter."""
        counts: Counter[Ask] = Counter()
        for ask, number in Counter(asks).items():
            counts[replace(ask, nodes=1, is_exclusive=False, shares_device=False)] += number * ask.nodes
        total = sum(counts.values())
        return cls(tuple((ask, counts[ask] / total) for ask in sorted(counts, key=_key)))


def _key(ask: Ask) -> tuple[object, ...]:
    return (ask.milli, ask.cpus, ask.memory_bytes, sorted(ask.gpu_models), ask.gpu_memory_bytes, ask.interconnect)
