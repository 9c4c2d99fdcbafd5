"""An act that asks first: the same question as the content of a dialog, and as a page of its own without a script."""

from collections.abc import Mapping
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render


def ask(request: HttpRequest, words: Mapping[str, Any]) -> HttpResponse:
    """The question whose parts ``templates/_confirm.html`` names. A form that was refused is a 422."""
    template = "_confirm.html" if request.headers.get("HX-Request") else "confirm_page.html"
    refused = getattr(words.get("fields"), "errors", None)
    return render(request, template, {**words}, status=422 if refused else 200)
