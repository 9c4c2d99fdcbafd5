"""Messages with something to do about them, on the next page and beside an exchanged part."""

import json

import pytest
from django.contrib.auth.models import AnonymousUser
from django.contrib.messages import get_messages
from django.contrib.messages.storage.cookie import CookieStorage
from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.test import RequestFactory

from kernel.errors import Conflict, PortalError
from kernel.pages import ErrorPageMiddleware
from kernel.toasts import EVENT, LONGEST, Act, act_of, announce, offer, undoable

HOSTILE = '"><script>alert(1)</script>'


@pytest.fixture
def request_() -> HttpRequest:
    request = RequestFactory().get("/")
    request._messages = CookieStorage(request)  # type: ignore[attr-defined]
    return request


def shown(request: HttpRequest) -> str:
    """What the next page shows, after the messages have gone through the storage."""
    answer = HttpResponse()
    request._messages.update(answer)  # type: ignore[attr-defined]
    following = RequestFactory().get("/")
    following.COOKIES = {name: morsel.value for name, morsel in answer.cookies.items()}
    following._messages = CookieStorage(following)  # type: ignore[attr-defined]
    return render_to_string("_toasts.html", {"messages": get_messages(following)}, following)


def test_an_undo_is_a_form_that_posts_what_it_was_given(request_: HttpRequest) -> None:
    undoable(request_, "3 projects were closed.", url="/projects/undo", fields={"change": "17"})
    page = shown(request_)
    assert "3 projects were closed." in page
    assert 'method="post" action="/projects/undo"' in page
    assert '<input type="hidden" name="change" value="17">' in page
    assert "csrfmiddlewaretoken" in page
    assert ">Undo</button>" in page


def test_a_link_needs_no_form(request_: HttpRequest) -> None:
    offer(request_, "Imported.", Act("See them", "/projects?tier=high", is_link=True))
    page = shown(request_)
    assert '<a class="toast-act" href="/projects?tier=high">See them</a>' in page
    assert "<form" not in page


def test_text_in_a_toast_is_escaped(request_: HttpRequest) -> None:
    offer(request_, HOSTILE, Act(HOSTILE, HOSTILE, {HOSTILE: HOSTILE}))
    assert "<script" not in shown(request_)


def test_a_plain_message_offers_nothing(request_: HttpRequest) -> None:
    request_._messages.add(25, "Saved.", "plain")  # type: ignore[attr-defined]
    assert [act_of(message) for message in get_messages(request_)] == [None]


def test_an_announcement_travels_in_a_header() -> None:
    answer = HttpResponse()
    announce(answer, "层级已设置", act=Act("Undo", "/undo", {"to": "mid"}))
    assert answer["HX-Trigger"].isascii()
    said = json.loads(answer["HX-Trigger"])[EVENT]
    assert said["kind"] == "success"
    assert said["text"] == "层级已设置"
    assert said["act"] == {"label": "Undo", "url": "/undo", "fields": {"to": "mid"}, "is_link": False}


def test_an_announcement_has_a_bound_and_no_line_break() -> None:
    answer = HttpResponse()
    announce(answer, "line\nbreak" * 200, "error")
    assert "\n" not in answer["HX-Trigger"]
    assert len(json.loads(answer["HX-Trigger"])[EVENT]["text"]) == LONGEST


@pytest.mark.parametrize(
    ("headers", "error", "expected"),
    [
        ({"HX-Request": "true"}, Conflict("The quota has ended."), "The quota has ended. Nothing was changed."),
        ({"HX-Request": "true"}, Conflict(), None),
        ({}, Conflict("The quota has ended."), None),
    ],
)
def test_a_refusal_beside_a_part_says_its_sentence(
    headers: dict[str, str], error: PortalError, expected: str | None
) -> None:
    request = RequestFactory().get("/quotas", headers=headers)
    request.user = AnonymousUser()
    answer = ErrorPageMiddleware(lambda _request: HttpResponse()).process_exception(request, error)
    assert answer is not None
    assert answer.status_code == 409
    said = json.loads(answer.headers.get("HX-Trigger", "{}"))
    assert said.get(EVENT, {}).get("text") == expected
