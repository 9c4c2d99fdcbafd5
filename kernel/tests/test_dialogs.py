"""A question as a dialog and as a page."""

from django import forms
from django.contrib.auth.models import AnonymousUser
from django.test import RequestFactory

from kernel.dialogs import ask


class _Form(forms.Form):
    reason = forms.CharField()


WORDS = {"title": "Really?", "action": "/do", "cancel_url": "/"}


def asked(**headers: str) -> str:
    request = RequestFactory().get("/do", headers=headers)
    request.user = AnonymousUser()
    return ask(request, WORDS).content.decode()


def test_a_dialog_gets_the_question_alone_and_a_page_everything_around_it() -> None:
    plain, dialog = asked(), asked(**{"HX-Request": "true"})
    assert "<html" in plain
    assert "<html" not in dialog
    assert "Really?" in plain
    assert "Really?" in dialog


def test_a_refused_form_is_a_422() -> None:
    request = RequestFactory().get("/do", headers={"HX-Request": "true"})
    request.user = AnonymousUser()
    assert ask(request, {**WORDS, "fields": _Form()}).status_code == 200
    assert ask(request, {**WORDS, "fields": _Form({})}).status_code == 422
