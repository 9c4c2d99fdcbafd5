"""Views of somebody who leaves stay: the shared ones serve others, who may copy them, and admins may change them."""

from django.utils.translation import gettext_lazy as _

from accounts.models import Person
from accounts.offboarding.steps import Item, Leaving, Line, OffboardingStep, register
from portal.models import SavedView

SHARED, PRIVATE = "shared_views", "private_views"


def _lines(person: Person) -> list[Line]:
    rows = list(SavedView.objects.filter(owner=person, deleted_at__isnull=True))
    shared = [Item(row.name) for row in rows if row.is_shared]
    private = len(rows) - len(shared)
    return [*Line.of(SHARED, shared), *([Line(PRIVATE, count=private)] if private else [])]


def _carry_out(leaving: Leaving) -> list[Line]:
    return _lines(leaving.person)


def register_step() -> None:
    """Called once, when the site is ready."""
    register(
        OffboardingStep(
            room="portal",
            title=_("Views of the table of projects"),
            words={
                SHARED: _("Shared views: stay for those who use them; admins can change them"),
                PRIVATE: _("Views of their own: stay, seen by nobody"),
            },
            preview=_lines,
            carry_out=_carry_out,
        )
    )
