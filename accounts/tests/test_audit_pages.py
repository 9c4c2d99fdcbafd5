"""The audit log through page and API: for admins and auditors, filtered, paged, without a secret."""

from datetime import UTC, datetime

import pytest

from accounts.services import TokenTerms, token_issue
from accounts.tests.factories import admin, api_client, auditor, browser, director, off_board, person
from kernel import audit, clock
from kernel.models import AuditEntry

pytestmark = pytest.mark.django_db
API = "/api/v1/audit/"


def test_only_admins_and_auditors_read_it() -> None:
    for someone, status in ((person(), 403), (director(), 403), (admin(), 200), (auditor(), 200)):
        assert browser(someone).get("/audit/").status_code == status
        assert api_client(someone).get(API).status_code == status
        assert api_client(someone).get(f"{API}{AuditEntry.objects.latest('id').pk}/").status_code == status
    assert browser().get("/audit/").status_code == 302
    assert api_client().get(API).status_code == 401


def test_nobody_writes_it() -> None:
    client = api_client(admin())
    entry = AuditEntry.objects.latest("id")
    for url in (API, f"{API}{entry.pk}/"):
        for act in (client.post, client.put, client.patch, client.delete):
            assert act(url).status_code == 405


def test_before_and_after_are_shown() -> None:
    ada = person("ada")
    off_board(ada, actor=admin())
    page = browser(auditor()).get("/audit/", {"action": "person.deactivated"}).content.decode()
    assert "<td>yes</td><td>no</td>" in page
    assert f'<a href="/people/{ada.pk}">{ada.display_name}</a>' in page
    assert "Deactivated person" in page
    entry = api_client(auditor()).get(API, {"action": "person.deactivated"}).json()["results"][0]
    assert (entry["before"], entry["after"]["is_active"]) == ({"is_active": True}, False)


def test_a_seal_is_shown_once_there_is_one() -> None:
    client = api_client(auditor())
    assert client.get(API).json()["results"][0]["seal"] is None
    audit.seal_pending()
    newest, seal = client.get(API).json()["results"][0], AuditEntry.objects.latest("id").seal
    assert newest["seal"] == {"position": seal.position, "hash": seal.hash}


def test_filters_find_by_actor_subject_action_and_day() -> None:
    chief, reader = admin("chief"), auditor()
    with clock.frozen(datetime(2026, 3, 2, 23, 59, tzinfo=UTC)):
        off_board(person("early"), actor=chief)
    with clock.frozen(datetime(2026, 3, 3, tzinfo=UTC)):
        late = person("late")
        off_board(late, actor=chief)
    client = api_client(reader)

    def found(**filters: str) -> list[str]:
        rows = client.get(API, {"action": "person.deactivated", **filters}).json()["results"]
        return [row["subject_id"] for row in rows]

    assert len(found()) == 2
    assert found(actor="CHIEF") == found(actor=str(chief.pk)) == found()
    assert found(actor="somebody") == []
    assert found(subject=f"accounts.person:{late.pk}") == [str(late.pk)]
    assert found(since="2026-03-03") == [str(late.pk)]
    assert str(late.pk) not in found(until="2026-03-02")
    assert len(found(since="2026-03-02", until="2026-03-03")) == 2


def test_the_page_says_what_it_was_asked_for() -> None:
    reader = auditor()
    audit.record("x.y", actor=reader, subject=reader)
    page = browser(reader).get("/audit/", {"action": "x.", "subject": f"accounts.person:{reader.pk}", "actor": "a<b"})
    shown = page.content.decode()
    assert '<option value="x." selected>' in shown
    assert f'<option value="accounts.person:{reader.pk}" selected>Person {reader.pk}</option>' in shown
    assert 'value="a&lt;b"' in shown
    assert "No entry fits" in shown


def test_wrong_filters_are_named() -> None:
    answer = api_client(auditor()).get(API, {"since": "yesterday"})
    assert (answer.status_code, list(answer.json()["errors"])) == (422, ["since"])
    assert browser(auditor()).get("/audit/", {"since": "yesterday"}).status_code == 422


def test_it_is_paged() -> None:
    reader = auditor()
    for _ in range(3):
        audit.record("x.y", actor=None, subject=reader)
    client = api_client(reader)
    total = client.get(API).json()["count"]
    page = client.get(API, {"page": 2, "page_size": 2}).json()
    assert (page["count"], len(page["results"])) == (total, 2)


def test_no_secret_is_in_it() -> None:
    reader = auditor()
    secret = token_issue(actor=reader, owner=reader, terms=TokenTerms("x")).secret
    assert secret not in api_client(reader).get(API).content.decode()
    assert secret not in browser(reader).get("/audit/").content.decode()


def test_pages_cost_the_same_for_many(django_assert_max_num_queries: object) -> None:
    reader = auditor()
    for _ in range(50):
        audit.record("x.y", actor=reader, subject=reader)
    client = browser(reader)
    # What the rail counts is kept for half a minute.
    client.get("/audit/")
    # Session, person, roles, count, rows, names of people, and one spare.
    with django_assert_max_num_queries(7):  # type: ignore[operator]
        assert client.get("/audit/").status_code == 200
