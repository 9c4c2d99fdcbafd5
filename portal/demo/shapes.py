"""What the demo's jobs look like. Pure: the same generator state gives the same job."""

from dataclasses import dataclass
from random import Random

KINDS = (
    ("pretrain", "torchrun train.py --config base.yaml"),
    ("finetune", "python finetune.py --lr 2e-5"),
    ("ablation", "python train.py --sweep ablation.yaml"),
    ("evaluate", "python evaluate.py --suite full"),
    ("embed", "python embed.py --shard all"),
    ("distil", "python distil.py --teacher large"),
)
_ENDINGS = ("succeeded",) * 82 + ("failed",) * 9 + ("cancelled",) * 5 + ("timed_out",) * 4


@dataclass(frozen=True, slots=True)
class Shape:
    """``ending``: the state that it ends in, if nothing happens to it on the way."""

    name: str
    command: tuple[str, ...]
    gpus: int
    ending: str


def draw(random: Random, number: int, most_gpus: int) -> Shape:
    """A job of at most this many GPUs, all on one node."""
    kind, command = random.choice(KINDS)
    sizes = [gpus for gpus in (1, 2, 4, 8) if gpus <= most_gpus]
    gpus = random.choice([sizes[0], *sizes[-2:], sizes[-1]])
    return Shape(f"{kind}-{number:04}", ("sh", "-c", command), gpus, random.choice(_ENDINGS))
