"""Pages of this room. The table (``projects:list``) and the page of one project (``project``) are the portal's,
composed of several rooms."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.urls import URLPattern, re_path

from projects.views import areas, deciding, drafting, milestones, suitability, team

app_name = "projects"

PROJECT = r"^projects/(?P<project_id>[0-9]{1,18})"
MILESTONE = PROJECT + r"/milestones/(?P<milestone_id>[0-9]{1,18})"


def page(address: str, view: Callable[..., HttpResponseBase], name: str) -> URLPattern:
    """An address that answers with and without the last slash, whose ids reach the view as numbers."""

    @wraps(view)
    def with_numbers(request: HttpRequest, **given: Any) -> HttpResponseBase:
        return view(request, **{key: int(raw) if key.endswith("_id") else raw for key, raw in given.items()})

    return re_path(address + r"/?$", with_numbers, name=name)


urlpatterns = [
    page(r"^projects/new", drafting.Create.as_view(), "new"),
    page(r"^projects/areas", areas.areas, "areas"),
    page(PROJECT + r"/edit", drafting.Edit.as_view(), "edit"),
    page(PROJECT + r"/decide", deciding.Decide.as_view(), "decide"),
    page(PROJECT + r"/tier", deciding.tier, "tier"),
    page(PROJECT + r"/members", team.Members.as_view(), "members"),
    page(PROJECT + r"/members/(?P<person_id>[0-9]{1,18})/role", team.change_role, "member-role"),
    page(PROJECT + r"/members/(?P<person_id>[0-9]{1,18})/remove", team.remove, "member-remove"),
    page(PROJECT + r"/milestones", milestones.listing, "milestones"),
    page(MILESTONE + r"/(?P<act>met|reopen|move)", milestones.act, "milestone"),
    page(PROJECT + r"/suitability", suitability.Suitability.as_view(), "suitability"),
    page(
        PROJECT + r"/suitability/(?P<measurement_id>[0-9]{1,18})/(?P<event>confirm|reject|withdraw|revoke)",
        suitability.judge,
        "measurement",
    ),
    page(PROJECT + r"/history", team.history, "history"),
    page(PROJECT + r"/(?P<event>withdraw|suspend|resume|close)", deciding.step, "step"),
]
