"""The colours: what is written can be read in both themes, every rule uses a token, and no two models look alike."""

import re
from itertools import combinations
from pathlib import Path

import pytest
from django.conf import settings

from kernel import looks, palette

CSS = sorted((Path(settings.BASE_DIR) / "static" / "css").glob("*.css"))
TOKENS = palette.style_sheet()
OWN = ("h200", "h100", "a100", "l40s", "h800", "a800", "h20", "b200", "b300", "gb200", "l20", "rtx-4090", "mi300x")


@pytest.mark.parametrize(
    ("first", "second", "ratio"), [("#000000", "#ffffff", 21), ("#ffffff", "#ffffff", 1), ("#777777", "#ffffff", 4.478)]
)
def test_contrast_is_that_of_the_standard(first: str, second: str, ratio: float) -> None:
    assert palette.contrast(first, second) == pytest.approx(ratio, abs=0.001)
    assert palette.contrast(second, first) == palette.contrast(first, second)


@pytest.mark.parametrize("pair", palette.readings(TOKENS), ids=lambda pair: f"{pair.text} on {pair.ground}")
def test_text_can_be_read_on_its_ground(pair: palette.Reading) -> None:
    assert pair.light >= palette.AA_TEXT, "light"
    assert pair.dark >= palette.AA_TEXT, "dark"


@pytest.mark.parametrize("ground", palette.OUTLINES)
def test_what_has_the_focus_can_be_seen(ground: str) -> None:
    known = palette.colours(TOKENS)
    assert palette.contrast(known["accent"].light, known[ground].light) >= palette.AA_OUTLINE
    assert palette.contrast(known["accent"].dark, known[ground].dark) >= palette.AA_OUTLINE


@pytest.mark.parametrize("path", [path for path in CSS if path.name != "tokens.css"], ids=lambda path: path.name)
def test_colours_are_tokens(path: Path) -> None:
    rules = re.sub(r'url\("data:[^"]*"\)', "", path.read_text(encoding="utf-8"))
    assert re.findall(r"#[0-9a-f]{3,8}\b(?![^{]*\{)", rules) == []


def test_every_token_that_is_used_exists() -> None:
    text = "".join(path.read_text(encoding="utf-8") for path in CSS)
    used = set(re.findall(r"var\(--([a-z0-9-]+)", text))
    assert sorted(used - set(re.findall(r"--([a-z0-9-]+):", text))) == []


def test_every_model_class_has_a_hue() -> None:
    hues = palette.model_hues(TOKENS)
    names = [*OWN, "ascend-910b", "v100", "t4", *(f"unknown-{index}" for index in range(50))]
    assert {looks.model_class(name).removeprefix("model-") for name in names} == set(hues)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_no_two_known_models_look_alike(theme: str) -> None:
    hues = palette.model_hues(TOKENS)
    shown = {name: getattr(hues[looks.model_class(name).removeprefix("model-")], theme) for name in OWN}
    near = [pair for pair in combinations(OWN, 2) if _distance(shown[pair[0]], shown[pair[1]]) < 50]
    assert near == []


def _distance(first: str, second: str) -> float:
    """Of two colours, weighted for the eye ("redmean"), 0 to 765."""
    (r1, g1, b1), (r2, g2, b2) = ([int(colour[at : at + 2], 16) for at in (1, 3, 5)] for colour in (first, second))
    mean = (r1 + r2) / 2
    red, green, blue = (2 + mean / 256) * (r1 - r2) ** 2, 4 * (g1 - g2) ** 2, (2 + (255 - mean) / 256) * (b1 - b2) ** 2
    return float((red + green + blue) ** 0.5)
