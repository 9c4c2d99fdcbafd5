"""People for tests, made by the same services as in life. Rooms above build on these."""

from itertools import count

from django.test import Client
from rest_framework.test import APIClient

from accounts.models import Offboarding, Person, Role, Scope, ServiceToken
from accounts.services import (
    Farewell,
    TokenTerms,
    person_create,
    person_offboard,
    role_grant,
    service_account_create,
    token_issue,
)
from accounts.services.offboarding import Successors

PASSWORD = "quiet-harbour-41"
BACKEND = "allauth.account.auth_backends.AuthenticationBackend"
_numbers = count(1)


def person(username: str = "", *roles: Role, display_name: str = "", password: str | None = None) -> Person:
    """An active person holding these roles; a user name is made up where none is given."""
    name = username or f"person-{next(_numbers)}"
    someone = person_create(actor=None, username=name, display_name=display_name or name.title(), password=password)
    for role in roles:
        role_grant(actor=None, person_id=someone.pk, role=role)
    return Person.objects.get(pk=someone.pk)


def admin(username: str = "") -> Person:
    return person(username, Role.ADMIN)


def director(username: str = "") -> Person:
    return person(username, Role.DIRECTOR)


def auditor(username: str = "") -> Person:
    return person(username, Role.AUDITOR)


def deactivated(username: str = "", *roles: Role) -> Person:
    """Somebody who was here and held these roles."""
    someone = person(username, *roles)
    off_board(someone)
    return Person.objects.get(pk=someone.pk)


def off_board(
    someone: Person,
    *,
    actor: Person | None = None,
    reason: str = "Left the organisation",
    successors: Successors | None = None,
) -> Offboarding:
    """The one act, by the portal itself unless an admin is named."""
    farewell = Farewell(reason, successors or {})
    return person_offboard(actor=actor, person_id=someone.pk, farewell=farewell)


def service_account(username: str = "") -> Person:
    name = username or f"program-{next(_numbers)}"
    return service_account_create(actor=None, username=name, display_name=name.title())


def token(owner: Person, *scopes: Scope, days: int = 90, name: str = "test") -> tuple[ServiceToken, str]:
    """A token of this person, ``write`` unless told otherwise, and its secret."""
    issued = token_issue(actor=None, owner=owner, terms=TokenTerms(name, scopes or (Scope.WRITE,), days))
    return issued.token, issued.secret


def api_client(owner: Person | None = None, *scopes: Scope) -> APIClient:
    """A program that calls the API with a token of this person, or with none."""
    client = APIClient()
    if owner is not None:
        client.credentials(HTTP_AUTHORIZATION=f"Bearer {token(owner, *scopes)[1]}")
    return client


def browser(someone: Person | None = None) -> Client:
    """A browser in which this person is signed in; it checks CSRF tokens only where a test asks for it."""
    client = Client()
    if someone is not None:
        client.force_login(someone, backend=BACKEND)
    return client
