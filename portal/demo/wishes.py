"""What the projects of the demo are given and use, by tier and stage. Pure: the same name says the same every time.

High tier in training holds whole nodes, mid tier a few GPUs, low tier runs on what is idle. Records of the past
and the jobs of the present read the same figures, so the one goes on where the other ends.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from random import Random

from portal.demo import names
from projects.models import Stage, Tier

NODE = 8
"""GPUs of a node."""
BUSY = 0.76
"""Of a model's capacity: what the demo's projects keep busy on a working day."""
WEEKEND = 0.45
"""How many lanes go on at a weekend."""
_EARLY = (Stage.EXPLORATION, Stage.FEASIBILITY)
_SHOWN = (32, 48)
"""Guarantee and limit of the project of ``lead`` and ``researcher``."""


@dataclass(frozen=True, slots=True)
class Share:
    """GPUs of one model that a project holds. ``limit``: at most so many at once."""

    project: str
    guaranteed: int
    limit: int


def share(random: Random, project: str, tier: Tier, stage: Stage) -> Share:
    """What the project is granted, if there is that much."""
    if project == names.SHOWCASE:
        return Share(project, *_SHOWN)
    if tier == Tier.HIGH:
        guaranteed = random.choice(_high(stage))
        return Share(project, guaranteed, guaranteed + max(NODE // 2, guaranteed // 2 // NODE * NODE))
    if tier == Tier.MID:
        guaranteed = random.choice((2, 4, 4, 8) if stage == Stage.TRAINING else (1, 1, 2, 2))
        return Share(project, guaranteed, 2 * guaranteed or 2)
    return Share(project, 0, random.choice((1, 2, 2, 4, 4, 8)))


def _high(stage: Stage) -> tuple[int, ...]:
    if stage == Stage.TRAINING:
        return (16, 16, 24)
    return (2, 4, 4) if stage in _EARLY else (8, 8, 16)


def cut(asked: Share, left: int) -> Share:
    """As much of it as is left; of several nodes whole ones."""
    if asked.guaranteed <= left:
        return asked
    kept = left // NODE * NODE if asked.guaranteed >= NODE else left
    return Share(asked.project, kept, max(asked.limit - asked.guaranteed + kept, 2))


def drawn(project: str, purpose: str) -> float:
    """The same number in [0, 1) for the same project, whatever else there is."""
    digest = hashlib.sha256(f"{purpose}/{project}".encode()).digest()
    return int.from_bytes(digest[:6]) / 2**48


def is_eager(project: str) -> bool:
    """Asks for more than its guarantee allows, so that some of its jobs wait."""
    return project == names.SHOWCASE or drawn(project, "eager") < 0.12


def appetite(held: Share) -> int:
    """GPUs that it keeps busy on a working day: some nothing, most their guarantee, a few more than that."""
    how = drawn(held.project, "appetite")
    if not held.guaranteed:
        return 0 if how < 0.35 else max(1, round(held.limit * how / 3))
    if is_eager(held.project):
        return held.guaranteed
    if how < 0.08:
        return 0
    if how > 0.84:
        return min(held.limit, held.guaranteed + max(1, held.guaranteed // 2))
    wanted = round(held.guaranteed * (0.65 + how / 3))
    return min(held.guaranteed, wanted if held.guaranteed < NODE else max(NODE, wanted // 4 * 4))


def appetites(shares: Mapping[int, Share], capacity: int) -> dict[int, int]:
    """By project, of one model: the guaranteed first, the others as long as the model is not busy enough."""
    left, wanted = int(capacity * BUSY), {}
    order = sorted(shares, key=lambda pk: (-shares[pk].guaranteed, drawn(shares[pk].project, "order")))
    for pk in order:
        wanted[pk] = min(appetite(shares[pk]), max(0, left))
        left -= wanted[pk]
    return wanted


def granules(project: str, gpus: int) -> tuple[int, ...]:
    """The sizes of the jobs that together keep so many GPUs busy; more than a node's are whole nodes."""
    most = 2 * NODE if drawn(project, "gang") < 0.4 else NODE if drawn(project, "size") < 0.7 else NODE // 2
    sizes = (16, 8, 4, 2, 1)
    parts, left = [], gpus
    while left:
        part = next(size for size in sizes if size <= min(most, left))
        parts.append(part)
        left -= part
    return tuple(parts)


def nodes_of(gpus: int) -> int:
    return max(1, gpus // NODE)
