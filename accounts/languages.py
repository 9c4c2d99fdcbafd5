"""In which language the portal speaks to whom: a person's own choice, else the browser's.

Of a browser, the cookie of the switch comes before ``Accept-Language``; Django's ``LocaleMiddleware`` reads both.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.utils import translation

from accounts.models import Person

GetResponse = Callable[[HttpRequest], HttpResponse]
AS_BROWSER = ""
"""The choice of whoever leaves it to the browser."""


def is_spoken(language: str) -> bool:
    """Whether there is a catalogue of this language."""
    return language in dict(settings.LANGUAGES)


def speak_to(person: object) -> None:
    """From here on, this request is answered in the person's own language, if one was chosen."""
    if isinstance(person, Person) and is_spoken(person.language):
        translation.activate(person.language)


@contextmanager
def speaking_to(person: Person) -> Iterator[None]:
    """Inside, texts are in this person's language: for mails, which no browser asked for."""
    with translation.override(person.language if is_spoken(person.language) else settings.LANGUAGE_CODE):
        yield


class PersonLanguageMiddleware:
    """Answers who is signed in in their own language. After the middleware of sessions, languages and sign-in."""

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        # Without a session nobody is signed in, and nothing needs to be asked.
        if settings.SESSION_COOKIE_NAME in request.COOKIES:
            speak_to(request.user)
        return self.get_response(request)
