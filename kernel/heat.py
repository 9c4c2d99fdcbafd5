"""The heat map's columns: a node is a column of cells, a cell is a GPU. Pure: figures in, SVG out.

Busy is calm and waste shines (cividis, reversed), so that what should be looked at is what the eye finds.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

CELL_WIDTH, CELL_HEIGHT = 8, 10
PITCH_X, PITCH_Y = 9, 11
STEPS = (10, 30, 50, 70, 90)
"""Upper bounds, in per cent, of all heat steps but the last."""


Kind = Literal["used", "free", "draining", "down", "no_data"]


@dataclass(frozen=True)
class Cell:
    """One GPU. `utilisation` is in per cent and only read when the GPU is used; None there is no data."""

    kind: Kind
    utilisation: float | None = None


def step(utilisation: float) -> int:
    """The heat step, 0 (idle) to 5 (busy), of a utilisation in per cent."""
    return sum(utilisation >= bound for bound in STEPS)


def node_column(cells: Sequence[Cell], *, label: str, is_simulated: bool = False) -> SafeString:
    """One node's GPUs from top to bottom. Free is hollow, down a cross, draining a dash, no data hatched."""
    return format_html(
        '<svg class="heat{}" width="{}" height="{}" role="img" aria-label="{}"><title>{}</title>{}</svg>',
        " is-simulated" if is_simulated else "",
        PITCH_X,
        PITCH_Y * len(cells),
        label,
        label,
        format_html_join("", "{}", ((_cell(cell, index * PITCH_Y),) for index, cell in enumerate(cells))),
    )


def _cell(cell: Cell, y: int) -> SafeString:
    middle, bottom = y + CELL_HEIGHT // 2, y + CELL_HEIGHT
    if cell.kind == "down":
        return format_html('<path class="heat-down" d="M1 {}l6 6M7 {}l-6 6"/>', middle - 3, middle - 3)
    if cell.kind == "draining":
        return format_html('<path class="heat-draining" d="M1 {}h6"/>', middle)
    if cell.kind == "free":
        return format_html('<path class="heat-free" d="M.5 {}h{}V{}H.5z"/>', y + 0.5, CELL_WIDTH - 1, bottom - 0.5)
    look = "no-data"
    if cell.kind == "used" and cell.utilisation is not None:
        look = f"heat-{step(cell.utilisation)}"
    return format_html('<rect class="{}" y="{}" width="{}" height="{}"/>', look, y, CELL_WIDTH, CELL_HEIGHT)
