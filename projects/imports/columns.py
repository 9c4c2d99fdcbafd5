"""The columns of an import: how each is called, and which of them a file has.

A head is known by its key, its English and its Chinese name, whatever the case and the spaces.
"""

import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from django.conf import settings
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _
from django.utils.translation import override

from projects.imports.sheet import Sheet, printable


@dataclass(frozen=True, slots=True)
class Column:
    """``chinese`` are names that Chinese files use, beside the label's own translation."""

    key: str
    label: str | Promise
    chinese: tuple[str, ...]
    help: str | Promise


COLUMNS = (
    Column(
        "id",
        _("Id"),
        ("编号", "项目编号"),
        _("Empty for a new project. The number of a project changes that project."),
    ),
    Column("name", _("Name"), ("名称", "项目名称"), _("Up to 200 characters, once among all open projects.")),
    Column("goal", _("Goal"), ("目标",), _("What will be known or possible afterwards, and how one will tell.")),
    Column("kind", _("Kind"), ("类型", "种类"), _("Empty: research for a new project, else as it is.")),
    Column("stage", _("Stage"), ("阶段",), _("Where the work stands.")),
    Column("area", _("Research area"), ("研究领域", "领域"), _("Its key or its title.")),
    Column(
        "data_class", _("Data class"), ("数据级别", "数据分类"), _("Empty: internal for a new project, else as it is.")
    ),
    Column("breakthrough", _("Breakthrough potential"), ("突破潜力",), _("A whole number from 0 to 10.")),
    Column("datasets", _("Datasets"), ("数据集",), _("One a line, or separated by |.")),
    Column(
        "lead",
        _("Project lead"),
        ("负责人", "项目负责人"),
        _("User name. Empty: you. Only for new projects, and another than you only if you are an admin."),
    ),
    Column(
        "milestones",
        _("Milestones"),
        ("里程碑",),
        _("One a line: day and name, such as 2027-03-01 First result; then met and the day, once it is reached."),
    ),
)
BY_KEY = {column.key: column for column in COLUMNS}
PARTS = {"min": ("至少", "最少"), "target": ("目标",), "max": ("至多", "最多")}
"""Of the expected compute on one GPU model, in whole GPUs: three columns, such as ``h100 min``."""
_SPACES = re.compile(r"[\s_]+")


@dataclass(frozen=True, slots=True)
class Head:
    """Where each known column stands, what is called otherwise, and what is there twice."""

    places: dict[str, int] = field(default_factory=dict)
    unknown: list[str] = field(default_factory=list)
    doubled: list[str] = field(default_factory=list)


def compute_key(gpu_model: str, part: str) -> str:
    return f"{gpu_model} {part}"


def keys(gpu_models: Iterable[str]) -> list[str]:
    """All columns in the order of a template."""
    compute = [compute_key(name, part) for name in gpu_models for part in PARTS]
    fixed = [column.key for column in COLUMNS]
    return [*fixed[:-1], *compute, fixed[-1]]


def read_head(sheet: Sheet, gpu_models: Iterable[str]) -> Head:
    """A column without a name in which something stands is unknown by its letter: nothing is dropped unseen."""
    names, head = known_names(gpu_models), Head()
    filled = {place for row in sheet.rows for place, cell in enumerate(row.cells) if cell != ""}
    for place in range(max(len(sheet.head), max(filled) + 1)):
        cell = sheet.head[place] if place < len(sheet.head) else ""
        if cell == "" and place not in filled:
            continue
        shown = printable(cell if isinstance(cell, str) else cell.shown)
        key = names.get(squeezed(shown)) if isinstance(cell, str) else None
        if key is None:
            head.unknown.append(shown.strip()[:60] or letter(place))
        elif key in head.places:
            head.doubled.append(shown.strip()[:60])
        else:
            head.places[key] = place
    return head


def counting(gpu_models: Iterable[str]) -> Callable[[Sequence[str]], int]:
    """How many of these heads are columns of ours."""
    names = known_names(gpu_models)
    return lambda head: sum(1 for text in head if squeezed(text) in names)


def known_names(gpu_models: Iterable[str]) -> dict[str, str]:
    """Key of the column by every name that it goes by."""
    names: dict[str, str] = {}
    for gpu_model in gpu_models:
        for part, chinese in PARTS.items():
            for word in (part, *chinese):
                names[squeezed(compute_key(gpu_model, word))] = compute_key(gpu_model, part)
    for language, _name in settings.LANGUAGES:
        with override(language):
            names |= {squeezed(str(column.label)): column.key for column in COLUMNS}
    for column in COLUMNS:
        names |= {squeezed(word): column.key for word in (column.key, *column.chinese)}
    return names


def squeezed(text: str) -> str:
    """A name without case, spaces and the width of its letters."""
    return _SPACES.sub("", unicodedata.normalize("NFKC", text)).casefold()


def letter(place: int) -> str:
    """What a spreadsheet calls the column at this place, counted from 0: A to Z, AA and so on."""
    word, place = "", place + 1
    while place:
        place, rest = divmod(place - 1, 26)
        word = chr(ord("A") + rest) + word
    return word
