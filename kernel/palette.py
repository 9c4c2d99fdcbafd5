"""The colours of static/css/tokens.css: what they are in both themes, and how well they can be read on each other.

Source of the contrast ratio: WCAG 2.2, definitions of *relative luminance* and *contrast ratio*; level AA asks 4.5 of
text of this size and 3 of the outline of the focused element.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from django.contrib.staticfiles import finders

AA_TEXT = 4.5
AA_OUTLINE = 3.0
_TOKEN = re.compile(r"^\s*--([a-z0-9-]+):\s*(?:light-dark\((#[0-9a-f]+),\s*(#[0-9a-f]+)\)|(#[0-9a-f]+));", re.M)
_MODEL = re.compile(r"^\.model-([a-z0-9-]+) \{ --model: (?:light-dark\()?(#[0-9a-f]+)(?:, (#[0-9a-f]+)\))?;", re.M)

_GROUNDS = ("bg", "rail", "raised", "sunken", "hover")
TEXT_ON: Mapping[str, tuple[str, ...]] = {
    "text": (*_GROUNDS, "pressed", "selected", "ok-ground", "waiting-ground", "bad-ground", "none-ground"),
    "text-2": (*_GROUNDS, "selected", "none-ground", "ok-ground", "waiting-ground", "bad-ground"),
    "text-3": ("bg", "rail", "raised"),
    "accent-text": (*_GROUNDS, "selected", "avatar-ground"),
    "on-accent": ("accent", "accent-hover"),
    "ok": ("bg", "hover", "ok-ground"),
    "waiting": ("bg", "hover", "waiting-ground"),
    "bad": ("bg", "hover", "selected", "bad-ground"),
    "paused": ("bg", "hover", "paused-ground"),
    "gain": ("bg", "hover"),
    "loss": ("bg", "hover"),
    "on-bad-fill": ("bad-fill", "bad-fill-hover"),
}
"""Which text stands on which ground; the style sheets bring no other pair together."""
OUTLINES = ("bg", "rail", "raised", "sunken", "hover", "selected")
"""Grounds on which the accent shows what has the focus."""


@dataclass(frozen=True)
class Colour:
    """A token in both themes, as ``#rrggbb``."""

    name: str
    light: str
    dark: str


@dataclass(frozen=True)
class Reading:
    """How well a text can be read on a ground: the contrast ratios, 1 to 21."""

    text: str
    ground: str
    light: float
    dark: float

    @property
    def worst(self) -> float:
        return min(self.light, self.dark)


@cache
def style_sheet() -> str:
    """The tokens as they are served."""
    return Path(str(finders.find("css/tokens.css"))).read_text(encoding="utf-8")


def colours(css: str) -> dict[str, Colour]:
    """The tokens that are colours, by name, in the order of the style sheet."""
    found: dict[str, Colour] = {}
    for name, light, dark, both in _TOKEN.findall(css):
        found[name] = Colour(name, _long(light or both), _long(dark or both))
    return found


def model_hues(css: str) -> dict[str, Colour]:
    """The hues of the GPU models, by the end of their class: ``h100``, ``other-1``."""
    return {name: Colour(name, _long(light), _long(dark or light)) for name, light, dark in _MODEL.findall(css)}


def readings(css: str) -> list[Reading]:
    """All pairs of text and ground with their contrast."""
    known = colours(css)
    return [
        Reading(
            text,
            ground,
            contrast(known[text].light, known[ground].light),
            contrast(known[text].dark, known[ground].dark),
        )
        for text, grounds in TEXT_ON.items()
        for ground in grounds
    ]


def contrast(first: str, second: str) -> float:
    """The contrast ratio of two colours, 1 (none) to 21 (black on white)."""
    darker, lighter = sorted((_luminance(first), _luminance(second)))
    return (lighter + 0.05) / (darker + 0.05)


def _luminance(colour: str) -> float:
    channels = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4 for value in channels)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _long(colour: str) -> str:
    """``#fff`` as ``#ffffff``."""
    return colour if len(colour) == 7 else "#" + "".join(digit * 2 for digit in colour[1:])
