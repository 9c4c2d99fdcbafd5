"""The OIDC flow against a small provider over real HTTP: who is let in, as whom, and who is not."""

from collections.abc import Iterator
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
import requests
from allauth.socialaccount.models import SocialAccount, SocialToken
from django.test import Client
from pytest_django import Settings

from accounts.models import Person, RoleGrant
from accounts.tests import oidc_provider
from accounts.tests.factories import PASSWORD, browser, off_board, person, service_account
from accounts.tests.oidc_provider import CLIENT_ID, CLIENT_SECRET, Provider
from kernel.models import AuditEntry

pytestmark = pytest.mark.django_db
START = "/accounts/oidc/oidc/login/"
ADA = {"sub": "u-1", "preferred_username": "ada", "name": "Ada Lovelace", "email": "ada@example.org"}


@pytest.fixture
def provider(settings: Settings) -> Iterator[Provider]:
    with oidc_provider.running(dict(ADA)) as running:
        settings.SOCIALACCOUNT_PROVIDERS = {
            "openid_connect": {
                "OAUTH_PKCE_ENABLED": True,
                "APPS": [
                    {
                        "provider_id": "oidc",
                        "name": "Institute",
                        "client_id": CLIENT_ID,
                        "secret": CLIENT_SECRET,
                        "settings": {"server_url": running.issuer},
                    }
                ],
            }
        }
        settings.OIDC_CREATES_PEOPLE = True
        yield running


def sent_back(client: Client, **form: str) -> str:
    """Follow the browser to the provider, and give the address at which it returns."""
    there = client.post(START, form)
    assert there.status_code == 302, there.content
    back = requests.get(there["Location"], allow_redirects=False, timeout=10)
    url = urlsplit(back.headers["Location"])
    return f"{url.path}?{url.query}"


def sign_in(client: Client, **form: str) -> Any:
    return client.get(sent_back(client, **form))


def who(client: Client) -> str | None:
    """User name of whoever is signed in in this browser."""
    key = client.session.get("_auth_user_id")
    return Person.objects.get(pk=key).username if key else None


def test_the_page_offers_the_provider(provider: Provider) -> None:
    page = Client().get("/accounts/login/?next=/tokens/").content.decode()
    assert "Sign in with Institute" in page
    form = page.split(f'action="{START}"')[1]
    assert '<input type="hidden" name="next" value="/tokens/">' in form


def test_no_foreign_page_starts_a_sign_in(provider: Provider) -> None:
    assert Client().get(START).status_code == 405
    assert Client(enforce_csrf_checks=True).post(START).status_code == 403
    assert provider.requests == []


def test_the_flow_uses_state_and_a_proof_key(provider: Provider) -> None:
    there = Client().post(START)["Location"]
    query = parse_qs(urlsplit(there).query)
    assert query["code_challenge_method"] == ["S256"]
    assert query["state"]
    assert set(query["scope"][0].split()) == {"openid", "profile", "email"}
    assert query["redirect_uri"] == ["http://testserver/accounts/oidc/oidc/login/callback/"]


def test_a_newcomer_gets_an_account_without_any_role(provider: Provider) -> None:
    client = Client()
    answer = sign_in(client)
    assert (answer.status_code, answer["Location"]) == (302, "/")
    assert who(client) == "ada"
    ada = Person.objects.get(username="ada")
    assert (ada.display_name, ada.email, ada.has_usable_password()) == ("Ada Lovelace", "ada@example.org", False)
    assert not RoleGrant.objects.filter(person=ada).exists()
    actions = AuditEntry.objects.filter(subject_id=str(ada.pk)).order_by("id").values_list("action", flat=True)
    assert list(actions) == ["person.created", "person.identity_tied"]
    assert not SocialToken.objects.exists()


def test_by_setting_a_newcomer_is_refused(provider: Provider, settings: Settings) -> None:
    settings.OIDC_CREATES_PEOPLE = False
    client = Client()
    answer = sign_in(client)
    assert answer.status_code == 403
    assert "no account for you here yet" in answer.content.decode()
    assert who(client) is None
    assert not Person.objects.exists()


def test_whom_an_admin_prepared_is_let_in(provider: Provider, settings: Settings) -> None:
    settings.OIDC_CREATES_PEOPLE = False
    prepared = person("Ada")
    client = Client()
    assert sign_in(client).status_code == 302
    assert who(client) == prepared.username


def test_an_identity_stays_with_its_person_when_the_name_changes(provider: Provider) -> None:
    sign_in(Client())
    provider.claims["preferred_username"] = "countess"
    client = Client()
    sign_in(client)
    assert who(client) == "ada"
    assert Person.objects.count() == 1


def test_a_name_does_not_take_over_a_local_account(provider: Provider) -> None:
    person("ada", password=PASSWORD)
    client = Client()
    answer = sign_in(client)
    assert answer.status_code == 403
    assert "another way of signing in" in answer.content.decode()
    assert who(client) is None
    assert not SocialAccount.objects.exists()


def test_a_name_does_not_take_over_a_program_or_another_identity(provider: Provider) -> None:
    service_account("ada")
    assert sign_in(Client()).status_code == 403
    provider.claims["preferred_username"] = "grace"
    sign_in(Client())
    provider.claims["sub"] = "u-2"
    client = Client()
    assert sign_in(client).status_code == 403
    assert who(client) is None


def test_the_address_is_no_identity(provider: Provider) -> None:
    """The provider's e-mail claim may be unverified; only ``sub`` counts."""
    person("boss", password=PASSWORD)
    Person.objects.update(email="ada@example.org")
    client = Client()
    sign_in(client)
    assert who(client) == "ada"


def test_a_deactivated_person_is_refused(provider: Provider) -> None:
    sign_in(Client())
    off_board(Person.objects.get())
    client = Client()
    answer = sign_in(client)
    assert answer.status_code == 403
    assert "deactivated" in answer.content.decode()
    assert who(client) is None


def test_a_deactivated_person_is_refused_at_the_first_sign_in_too(provider: Provider) -> None:
    off_board(person("ada"))
    assert sign_in(Client()).status_code == 403
    assert not SocialAccount.objects.exists()


def test_a_token_for_another_program_is_refused(provider: Provider) -> None:
    provider.audience = "somebody-else"
    client = Client()
    answer = sign_in(client)
    assert answer.status_code == 403
    assert "did not let you in" in answer.content.decode()
    assert who(client) is None


def test_a_refusal_by_the_provider_is_said(provider: Provider) -> None:
    provider.refuses = True
    client = Client()
    assert sign_in(client).status_code == 403
    assert who(client) is None


def test_an_answer_that_nobody_asked_for_is_refused(provider: Provider) -> None:
    """Another browser's code and state: signing somebody in as the attacker."""
    stolen = sent_back(Client())
    victim = Client()
    assert victim.get(stolen).status_code == 403
    assert who(victim) is None


def test_a_code_works_once(provider: Provider) -> None:
    client = Client()
    back = sent_back(client)
    assert client.get(back).status_code == 302
    client.post("/accounts/logout/")
    assert client.get(back).status_code == 403
    assert who(client) is None


def test_a_provider_that_is_down_is_said(provider: Provider, settings: Settings) -> None:
    client = Client()
    back = sent_back(client)
    settings.SOCIALACCOUNT_PROVIDERS["openid_connect"]["APPS"][0]["settings"] = {"server_url": "http://127.0.0.1:9"}
    for answer in (client.post(START), client.get(back)):
        assert answer.status_code == 503
        assert "does not answer" in answer.content.decode()


def test_an_identity_is_not_added_to_a_signed_in_account(provider: Provider) -> None:
    client = browser(person("bob", password=PASSWORD))
    answer = sign_in(client, process="connect")
    assert answer.status_code == 403
    assert not SocialAccount.objects.exists()


def test_the_next_page_is_kept_and_a_foreign_one_is_not(provider: Provider) -> None:
    assert sign_in(Client(), next="/tokens/")["Location"] == "/tokens/"
    assert sign_in(Client(), next="https://evil.example/")["Location"] == "/"
