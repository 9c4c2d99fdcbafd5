"""In which language whom the portal answers."""

import pytest
from django.test import Client
from django.utils.translation import gettext, override

from accounts.languages import speaking_to
from accounts.models import Person
from accounts.services import language_choose
from accounts.tests import factories as people
from kernel.errors import Invalid
from kernel.models import AuditEntry

pytestmark = pytest.mark.django_db

CHINESE = {"Accept-Language": "zh-CN,zh;q=0.9"}


def language_of(browser: Client, address: str = "/tokens", **headers: str) -> str:
    answer = browser.get(address, headers=headers)
    page = answer.content.decode()
    language = page.split('<html lang="', 1)[1].split('"', 1)[0]
    assert answer["Content-Language"] == language
    return language


def test_the_browser_decides_where_nobody_has_chosen() -> None:
    browser = people.browser(people.person())
    assert language_of(browser) == "en"
    assert language_of(browser, **CHINESE) == "zh-hans"
    assert language_of(Client(), "/accounts/login", **CHINESE) == "zh-hans"
    assert language_of(Client(), "/accounts/login", **{"Accept-Language": "fr"}) == "en"


def test_an_own_choice_counts_more_than_the_browser_and_holds_in_every_browser() -> None:
    person = people.person()
    people.browser(person).post("/language", {"language": "zh-hans"})
    assert language_of(people.browser(person), **{"Accept-Language": "en"}) == "zh-hans"
    assert AuditEntry.objects.filter(action="person.language_chosen").count() == 1


def test_who_leaves_it_to_the_browser_again_gets_the_browsers() -> None:
    person = people.person()
    browser = people.browser(person)
    browser.post("/language", {"language": "zh-hans"})
    browser.post("/language", {"language": ""})
    assert language_of(browser) == "en"
    assert Person.objects.get(pk=person.pk).language == ""


def test_before_signing_in_the_browser_remembers_the_choice() -> None:
    browser = Client()
    answer = browser.post("/language", {"language": "zh-hans", "next": "/accounts/login?next=/jobs"})
    assert answer["Location"] == "/accounts/login?next=/jobs"
    assert language_of(browser, "/accounts/login") == "zh-hans"


def test_a_language_that_is_not_spoken_is_refused() -> None:
    person = people.person()
    assert people.browser(person).post("/language", {"language": "tlh"}).status_code == 422
    with pytest.raises(Invalid):
        language_choose(actor=person, language="tlh")


def test_the_same_choice_twice_is_one_act() -> None:
    person = people.person()
    for _time in range(2):
        language_choose(actor=person, language="zh-hans")
    assert AuditEntry.objects.filter(action="person.language_chosen").count() == 1


def test_the_api_refuses_in_the_language_of_its_caller() -> None:
    person = people.person()
    client = people.api_client(person)
    assert client.post(f"/api/v1/people/{person.pk}/language", {"language": "zh-hans"}).status_code == 200
    refused = client.get("/api/v1/jobs/999999")
    with override("zh-hans"):
        assert refused.json()["title"] == gettext("There is nothing here") != "There is nothing here"
    assert refused["Content-Language"] == "zh-hans"


def test_nobody_chooses_for_another() -> None:
    other = people.person()
    client = people.api_client(people.admin())
    assert client.post(f"/api/v1/people/{other.pk}/language", {"language": "zh-hans"}).status_code == 403


def test_mails_are_in_the_language_of_who_gets_them() -> None:
    person = people.person()
    person.language = "zh-hans"
    with override("en"), speaking_to(person):
        assert gettext("There is nothing here") != "There is nothing here"
    person.language = ""
    with override("zh-hans"), speaking_to(person):
        assert gettext("There is nothing here") == "There is nothing here"
