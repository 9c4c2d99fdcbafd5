"""The switch of languages, for everybody: who is signed in keeps the choice, others their browser does."""

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_POST

from accounts.languages import AS_BROWSER, is_spoken
from accounts.policies import require_signed_in
from accounts.services import language_choose
from kernel.errors import Invalid

A_YEAR = 365 * 24 * 3600


@require_POST
def choose(request: HttpRequest) -> HttpResponse:
    """Take the language and go back to where the switch was."""
    language = request.POST.get("language", AS_BROWSER)
    if language != AS_BROWSER and not is_spoken(language):
        raise Invalid({"language": language[:20]})
    if request.user.is_authenticated:
        language_choose(actor=require_signed_in(request.user), language=language)
    response = redirect(back(request))
    if language == AS_BROWSER:
        response.delete_cookie(settings.LANGUAGE_COOKIE_NAME)
    else:
        remember(request, response, settings.LANGUAGE_COOKIE_NAME, language)
    return response


def remember(request: HttpRequest, response: HttpResponse, name: str, value: str) -> None:
    """Keep a choice in this browser, out of reach of scripts."""
    is_secure = request.is_secure()
    response.set_cookie(name, value, max_age=A_YEAR, httponly=True, samesite="Lax", secure=is_secure)


def back(request: HttpRequest) -> str:
    """The page that a form of the frame was sent from, if it is one of ours; else the first."""
    asked = request.POST.get("next", "")
    is_ours = url_has_allowed_host_and_scheme(asked, {request.get_host()}, require_https=request.is_secure())
    return asked if is_ours and asked.startswith("/") else "/"
