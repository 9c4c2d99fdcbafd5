"""The address that a view keeps: checked by the table's own rules when it is saved, mended when it is opened."""

from dataclasses import dataclass, field

from django.http import QueryDict
from django.utils.translation import gettext as _

from accounts.models import Person
from kernel.api.parsers import is_storable
from kernel.errors import Invalid, NotFound
from kernel.ids import id_in
from portal.pages.table.address import narrowed
from portal.pages.table.canonical import SHOWN, canonical, repaired, says_how
from portal.pages.table.rows import Lead
from portal.pages.table.table import Table, table_for
from portal.pages.views.selectors import ViewRow, listed, one
from projects.policies import visible_to as projects_visible_to

MAX_QUERY = 4000
MOST_PARTS = 300
NO_VIEW = "all"
PASSING = frozenset({"page", "ids", "view"})
"""Parts of an address that no view keeps."""


def checked(person: Person, query: str) -> str:
    """The canonical form of an address. Raises ``Invalid`` on ``query`` for what the table does not take."""
    if len(query) > MAX_QUERY or query.count("&") >= MOST_PARTS or not is_storable(query):
        raise Invalid({"query": _("An address of at most %(most)s characters is kept.") % {"most": MAX_QUERY}})
    asked = QueryDict(query.removeprefix("?"))
    unknown = sorted(set(asked) - {*SHOWN, *PASSING})
    if unknown:
        text = _("“%(key)s” is not one of: %(allowed)s.")
        raise Invalid({"query": text % {"key": unknown[0][:60], "allowed": ", ".join(SHOWN)}})
    if not all(is_storable(value) for values in asked.lists() for value in values[1]):
        raise Invalid({"query": _("NUL characters and half surrogate pairs are not allowed.")})
    try:
        tidy = canonical(asked)
        narrowed(QueryDict(tidy), projects_visible_to(person))
    except Invalid as fault:
        raise Invalid({"query": fault.message}) from fault
    return tidy


@dataclass(slots=True)
class Opened:
    """``query`` is the address in full, whether it named a view or said all itself."""

    query: QueryDict
    views: list[ViewRow]
    view: ViewRow | None = None
    is_explicit: bool = True
    gone: list[str] = field(default_factory=list)
    """What the view names and nobody finds any more."""

    @property
    def is_modified(self) -> bool:
        return self.view is not None and self.is_explicit and canonical(self.query) != self.view.query


def opened(person: Person, query: QueryDict) -> Opened:
    """What an address means: ``?view=12`` stands for what that view keeps, unless it says more itself.

    Raises ``NotFound`` for a view that the person does not see.
    """
    views = listed(person)
    asked = query.get("view", "")
    if asked in ("", NO_VIEW):
        return Opened(query, views)
    wanted = id_in(asked)
    if wanted is None:
        raise Invalid({"view": _("“%(view)s” is no view.") % {"view": asked[:60]}})
    view = next((row for row in views if row.pk == wanted), None) or one(person, wanted)
    if view is None:
        raise NotFound
    if says_how(query):
        return Opened(query, views, view)
    return Opened(_in_full(view, query), views, view, is_explicit=False)


def open_table(person: Person, query: QueryDict) -> tuple[Opened, Table]:
    """The table of an address. A view that names what is gone opens without it and says so."""
    here = opened(person, query)
    try:
        table = table_for(person, here.query)
    except Invalid:
        if here.view is None or here.is_explicit:
            raise
        here.query, here.gone = repaired(here.query)
        table = table_for(person, here.query)
    lead = here.query.get("lead", "")
    if here.view and lead and not any(_is_led(row.leads, lead) for row in table.everything):
        here.gone.append(_("lead “%(name)s”") % {"name": lead[:60]})
    return here, table


def _in_full(view: ViewRow, query: QueryDict) -> QueryDict:
    full = QueryDict(view.query, mutable=True)
    for key in PASSING & set(query):
        full.setlist(key, query.getlist(key))
    return full


def _is_led(leads: list[Lead], username: str) -> bool:
    return any(lead.username.casefold() == username.casefold() for lead in leads)
