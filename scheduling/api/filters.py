"""Filters of the list of jobs. A value that cannot be meant is refused, not ignored."""

from collections.abc import Mapping

from django.db.models import Q, QuerySet
from django.utils.translation import gettext as _

from accounts.models import Person
from kernel.errors import Invalid
from kernel.ids import id_in
from scheduling.models import Job
from scheduling.states import JobState

FILTERS = ("project", "state", "owner", "q")


def jobs_filtered(jobs: QuerySet[Job], asked: Mapping[str, str], person: Person) -> QuerySet[Job]:
    """``project`` (id), ``state`` (one or several with commas), ``owner`` (``me`` or a user name), ``q`` (part of
    the name, or the id). Raises ``Invalid`` naming the filter, its value and what is allowed."""
    if project := asked.get("project"):
        jobs = jobs.filter(project_id=_id("project", project))
    if states := asked.get("state"):
        jobs = jobs.filter(state__in=_states(states))
    if owner := asked.get("owner"):
        jobs = jobs.filter(owner=person) if owner == "me" else jobs.filter(owner__username__iexact=owner[:150])
    if words := asked.get("q", "").strip()[:200]:
        jobs = jobs.filter(_search(words))
    return jobs


def _search(words: str) -> Q:
    if "\0" in words:
        raise Invalid({"q": _("A zero byte is not allowed.")})
    match, pk = Q(name__icontains=words), id_in(words)
    return match if pk is None else match | Q(pk=pk)


def _id(name: str, raw: str) -> int:
    pk = id_in(raw)
    if pk is None:
        raise Invalid({name: _("“%(value)s” is not an id") % {"value": raw[:40]}})
    return pk


def _states(raw: str) -> list[str]:
    asked = [state for state in raw.split(",") if state]
    unknown = [state for state in asked if state not in JobState.values]
    if unknown:
        allowed = ", ".join(JobState.values)
        message = _("“%(value)s” is not one of %(allowed)s") % {"value": unknown[0][:40], "allowed": allowed}
        raise Invalid({"state": message})
    return asked
