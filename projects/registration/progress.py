"""The way through the form: its sections, and what each still lacks before the project can be submitted."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from projects.words import word


@dataclass(frozen=True, slots=True)
class Place:
    """A field by its word, and where on the page it is."""

    label: str
    anchor: str
    text: str


@dataclass(frozen=True, slots=True)
class Section:
    """``missing`` is empty when nothing of it is needed any more; nothing ever is of an optional one."""

    anchor: str
    title: str | Promise
    missing: tuple[Place, ...]
    is_optional: bool = False


_SECTIONS: tuple[tuple[str, str | Promise, tuple[str, ...]], ...] = (
    ("what", _("What and why"), ("name", "goal")),
    ("where", _("Where it stands"), ("stage", "breakthrough")),
    ("needs", _("What it needs"), ("expected_compute",)),
    ("milestones", _("Milestones"), ("milestones",)),
    ("data", _("Data"), ()),
)
_ANCHORS = {"expected_compute": "needs", "milestones": "milestones"}
"""Where a field is that is no single input."""


@dataclass(frozen=True, slots=True)
class Progress:
    sections: tuple[Section, ...]

    @property
    def missing(self) -> list[Place]:
        """Everything that is still missing, in the order of the form."""
        return [place for section in self.sections for place in section.missing]


def progress(missing: Mapping[str, Collection[str]]) -> Progress:
    """The five sections with what is missing, by field as ``ProjectForms.missing`` says it."""
    return Progress(
        tuple(
            Section(
                anchor, title, tuple(_place(field, missing[field]) for field in fields if field in missing), not fields
            )
            for anchor, title, fields in _SECTIONS
        )
    )


def _place(field: str, texts: Collection[str]) -> Place:
    return Place(word(field), _ANCHORS.get(field, f"id_{field}"), " ".join(texts))
