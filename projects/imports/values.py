"""What the cells of a row state. Pure: what cannot be taken is a fault of its column, with what is allowed."""

import re
import unicodedata
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any

from django.conf import settings
from django.utils.translation import gettext as _
from django.utils.translation import override

from projects.facts import MAX_ROWS, ComputeAsked, Facts, MilestoneAsked
from projects.imports.columns import PARTS, compute_key, squeezed
from projects.imports.limits import MOST_CHARACTERS
from projects.imports.sheet import CONTROL, Cell, CellFault, printable
from projects.models import DataClass, Kind, ResearchArea, Stage

CHOICES: dict[str, Any] = {"kind": Kind, "stage": Stage, "data_class": DataClass}
_CHINESE = {
    "kind": {"研究": "research", "产品": "product"},
    "stage": {
        "探索": "exploration",
        "可行性": "feasibility",
        "训练": "training",
        "评估": "evaluation",
        "上线准备": "launch_preparation",
        "生产": "production",
    },
    "data_class": {"公开": "open", "内部": "internal", "受限": "restricted"},
}
_DAY = re.compile(r"(\d{4})(?:-(\d{1,2})-(\d{1,2})|/(\d{1,2})/(\d{1,2})|年(\d{1,2})月(\d{1,2})日)")
_NOT_MET = "-"
_SHOWN = 60


@dataclass(frozen=True, slots=True)
class Catalogue:
    """What values may name: GPU models by name, research areas."""

    gpu_models: Sequence[str]
    areas: Collection[ResearchArea]
    words: Mapping[str, Mapping[str, str]]
    """Value of a choice by every word for it, by column."""


@dataclass(slots=True)
class Stated:
    """What a row states. ``texts``: every cell of a known column as it was read."""

    facts: Facts = field(default_factory=lambda: Facts())
    compute: dict[str, dict[str, int | None]] = field(default_factory=dict)
    """By GPU model and part, as far as stated; None for an empty cell."""
    lead: str = ""
    faults: list[tuple[str, str, str]] = field(default_factory=list)

    def refuse(self, column: str, value: str, why: str) -> None:
        self.faults.append((column, printable(value)[:_SHOWN], why))


def words_of_choices() -> dict[str, dict[str, str]]:
    """By column, each value under its key and its label in every language, whole or up to a colon."""
    found: dict[str, dict[str, str]] = {}
    for column, choices in CHOICES.items():
        words = {squeezed(value): value for value in choices.values}
        for language, _name in settings.LANGUAGES:
            with override(language):
                for value, label in choices.choices:
                    words[squeezed(str(label))] = value
                    words[squeezed(re.split("[:：]", str(label))[0])] = value
        found[column] = {**words, **_CHINESE[column]}
    return found


def stated(cells: Mapping[str, Cell], catalogue: Catalogue) -> Stated:
    """``cells`` by column; a column that is not there states nothing."""
    row = Stated()
    texts = {column: text for column, cell in cells.items() if (text := _text(column, cell, row)) is not None}
    facts: Any = row.facts
    for column in ("name", "goal"):
        if column in texts:
            facts[column] = texts[column]
    for column in CHOICES.keys() & texts.keys():
        _choice(column, texts[column], row, catalogue)
    if "area" in texts:
        facts["area"] = _area(texts["area"].strip(), catalogue.areas)
    if "breakthrough" in texts:
        facts["breakthrough"] = _number("breakthrough", texts["breakthrough"], row)
    if "datasets" in texts:
        facts["datasets"] = _bounded("datasets", datasets(texts["datasets"]), row)
    if "milestones" in texts:
        facts["milestones"] = _milestones(texts["milestones"], row)
    row.lead = texts.get("lead", "").strip()
    _compute(texts, row, catalogue.gpu_models)
    return row


def _text(column: str, cell: Cell, row: Stated) -> str | None:
    if isinstance(cell, CellFault):
        row.refuse(column, cell.shown, cell.why)
        return None
    sign = CONTROL.search(cell)
    if sign is not None:
        why = _("At place %(place)s stands the control character %(sign)s, which is not allowed.")
        said = why % {"place": sign.start() + 1, "sign": f"U+{ord(sign[0]):04X}"}
        row.refuse(column, cell, said)
        return None
    if len(cell) > MOST_CHARACTERS:
        return None
    return cell.replace("\r\n", "\n").replace("\r", "\n")


def _choice(column: str, text: str, row: Stated, catalogue: Catalogue) -> None:
    """Kind and data class are never empty: an empty cell leaves them as they are."""
    facts: Any = row.facts
    if not text.strip():
        if column == "stage":
            facts[column] = ""
        return
    value = catalogue.words[column].get(squeezed(text))
    if value is None:
        allowed = ", ".join(f"{choice.value} ({choice.label})" for choice in CHOICES[column])
        why = _("“%(value)s” is not one of: %(allowed)s.") % {"value": text.strip()[:_SHOWN], "allowed": allowed}
        row.refuse(column, text, why)
        return
    facts[column] = value


def _area(text: str, areas: Collection[ResearchArea]) -> str | None:
    """The key of the area with this key or title; what is neither stays, for the rules to refuse."""
    if not text:
        return None
    keyed = [area.name for area in areas if area.name == text.casefold()]
    titled = [area.name for area in areas if squeezed(area.title) == squeezed(text)]
    return next(iter([*keyed, *titled] if len(titled) < 2 else keyed), text)


def _number(column: str, text: str, row: Stated) -> int | None:
    plain = unicodedata.normalize("NFKC", text).strip()
    if not plain:
        return None
    if not (plain.isascii() and plain.isdigit() and len(plain) <= 9):
        row.refuse(column, text, _("“%(value)s” is no whole number.") % {"value": text.strip()[:_SHOWN]})
        return None
    return int(plain)


def datasets(text: str) -> list[str]:
    """One a line; where there is one line only, separated by ``|``. Each once."""
    parts = (part.strip() for part in text.split("\n" if "\n" in text else "|"))
    return list(dict.fromkeys(part for part in parts if part))


def _bounded(column: str, lines: list[str], row: Stated) -> list[str]:
    """The lines, if they are not too many: a cell holds thousands, and a file repeats one cell in thousands of rows."""
    if len(lines) <= MAX_ROWS:
        return lines
    why = _("%(count)s rows; at most %(most)s are allowed.") % {"count": len(lines), "most": MAX_ROWS}
    row.refuse(column, lines[0], why)
    return []


def _compute(texts: Mapping[str, str], row: Stated, gpu_models: Iterable[str]) -> None:
    for gpu_model in gpu_models:
        for part in PARTS:
            key = compute_key(gpu_model, part)
            if key in texts:
                row.compute.setdefault(gpu_model, {})[part] = _number(key, texts[key], row)


def compute_asked(
    row: Stated, before: Mapping[str, Mapping[str, int]], order: Sequence[str]
) -> list[ComputeAsked] | None:
    """The expected compute that comes of it: what the row does not state stays. None: nothing is stated at all."""
    if not row.compute:
        return None
    asked = []
    for gpu_model in order:
        now: dict[str, int | None] = {**before.get(gpu_model, {}), **row.compute.get(gpu_model, {})}
        given = {part: value for part, value in now.items() if value is not None}
        if given and len(given) < len(PARTS):
            missing = ", ".join(part for part in PARTS if part not in given)
            why = _("Give min, target and max, or none of the three; %(missing)s is empty.") % {"missing": missing}
            row.refuse(compute_key(gpu_model, missing.split(",")[0]), "", why)
        elif given:
            asked.append(ComputeAsked(gpu_model, given["min"], given["target"], given["max"]))
    return asked


def _milestones(text: str, row: Stated) -> list[MilestoneAsked]:
    lines = [line for part in text.split("\n") if (line := part.strip())]
    found = (_milestone(line, row) for line in _bounded("milestones", lines, row))
    return [milestone for milestone in found if milestone is not None]


def _milestone(line: str, row: Stated) -> MilestoneAsked | None:
    """``2027-03-01 Name``, then perhaps ``met 2027-02-20``; ``met -`` where the name itself ends like that."""
    due, *rest = line.split(None, 1)
    name, met_on = "".join(rest), None
    match name.rsplit(None, 2):
        case [before, word, met] if word.casefold() == "met":
            name = before
            met_on = None if met == _NOT_MET else _day(met, line, row)
    due_on = _day(due, line, row)
    return None if due_on is None else MilestoneAsked(name, due_on, met_on)


def _day(text: str, line: str, row: Stated) -> date | None:
    found = _DAY.fullmatch(unicodedata.normalize("NFKC", text))
    if found is None:
        why = _(
            "“%(value)s” is no day that can be meant in one way only: write year, month and day, such as 2027-03-01."
        )
        row.refuse("milestones", line, why % {"value": text[:_SHOWN]})
        return None
    year, month, day = (int(part) for part in found.groups() if part is not None)
    try:
        return date(year, month, day)
    except ValueError:
        row.refuse("milestones", line, _("There is no day %(value)s.") % {"value": text[:_SHOWN]})
        return None
