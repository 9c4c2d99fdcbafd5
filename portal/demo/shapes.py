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


def draw(random: Random, number: int, gpus: int) -> Shape:
    """A job of so many GPUs."""
    kind, command = random.choice(KINDS)
    return Shape(f"{kind}-{number:04}", ("sh", "-c", command), gpus, random.choice(_ENDINGS))
