"""What the decision page knows of each kind: its evidence and how it is drawn, and what may be asked of it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from django import forms
from django.utils.translation import gettext as _

from accounts.models import Person
from approvals.models import Approval
from portal.pages.approval.sight import Sight


@dataclass(frozen=True, slots=True)
class Line:
    """One thing that was looked at: ``ok``, ``waiting`` (look at it), ``bad`` or nothing (to know)."""

    tone: str
    text: str

    @property
    def icon(self) -> str:
        return {"ok": "ok", "waiting": "alert", "bad": "alert"}.get(self.tone, "info")


@dataclass(frozen=True, slots=True)
class Evidence:
    """What every kind tells: the sentences; ``more`` is what its own templates draw.

    ``asked``: what is asked in a few words; ``effect``: what it does, in one sentence that is true; ``before``: how
    like cases were decided. ``lines``: what was checked.
    """

    asked: str
    effect: str
    before: str
    lines: tuple[Line, ...] = ()
    reason: str = ""
    more: Any = None
    fits_at_most: int | None = None
    """What would fit, where all of what is asked does not."""
    has_less: bool = False
    """Whether less of it can be approved."""
    content: str = ""
    """The hash of what is shown, where it may differ from what was submitted."""
    answer_url: str = ""
    """Where who asked answers what was asked back."""


class LessAsked(forms.Form):
    """A form for approving less than was asked. ``version``, ``seen`` and ``comment`` are among its fields."""

    def changes(self) -> dict[str, Any]:
        """What of a valid form is otherwise than asked."""
        raise NotImplementedError


class Shown:
    """One kind as the page shows it. A kind that nobody has described is shown by what the flow itself knows."""

    asked_template: ClassVar[str] = "portal/approval/plain/_asked.html"
    effect_template: ClassVar[str] = "portal/approval/plain/_effect.html"
    before_template: ClassVar[str] = "portal/approval/plain/_before.html"
    peek_template: ClassVar[str] = "portal/approval/plain/_peek.html"

    def evidence(self, sight: Sight) -> Evidence:
        """A constant number of statements."""
        return Evidence(sight.approval.title, "", "")

    def grant_words(self) -> str:
        """What the last approval does, on its button."""
        return _("Approve")

    def less_form(self, sight: Sight, data: Mapping[str, Any] | None, given: Mapping[str, Any]) -> LessAsked | None:
        """For approving less than was asked; None where that is not possible."""
        return None

    def can_withdraw(self, approval: Approval) -> bool:
        """Whether who asked can take it back now."""
        return False

    def withdraw(self, actor: Person, approval: Approval, reason: str) -> None:
        """Take it back in the room that asked."""
        raise NotImplementedError


_shown: dict[str, Shown] = {}
_PLAIN = Shown()


def show(kind: str, shown: Shown) -> None:
    """Called once, when the site is ready."""
    _shown[kind] = shown


def shown_as(kind: str) -> Shown:
    return _shown.get(kind, _PLAIN)
