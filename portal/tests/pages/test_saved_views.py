"""Saved views: kept in one way of writing, shared, mended, undone; by page and by program."""

from typing import Any

import pytest

from accounts.models import Person
from accounts.tests import factories as people
from kernel import clock
from kernel.errors import Conflict, Forbidden, Invalid, NotFound
from kernel.models import AuditEntry
from portal.models import SavedView
from portal.pages.undo import KEPT, UNDO_WITHIN
from portal.pages.views import services
from portal.pages.views.services import MOST_VIEWS
from portal.tests.pages.saved import current, page, page_after, save
from projects.models import ResearchArea
from projects.tests import factories

pytestmark = pytest.mark.django_db
SCRIPT = '"><script>alert(1)</script>'


# --- keeping


@pytest.mark.parametrize(
    ("written", "kept"),
    [
        ("?sort=-used&state=suspended&state=active&page=3&ids=7&view=2", "state=active&state=suspended&sort=-used"),
        ("q=+two+words+&tier=", "q=two+words"),
        ("columns=stage&columns=tier", "columns=tier,stage"),
        ("columns=stage,tier,stage", "columns=stage,tier"),
        ("sort=used,-used,name", "sort=used,name"),
        ("", ""),
    ],
)
def test_an_address_is_kept_in_one_way_of_writing(written: str, kept: str) -> None:
    assert save(people.person(), query=written).query == kept


@pytest.mark.parametrize(
    "query",
    ["columns=password", "sort=goal", "state=gone", "area=nowhere", "colour=red", "x" * 4001, "q=%00", "a&" * 400],
)
def test_what_the_table_does_not_take_is_not_kept(query: str) -> None:
    with pytest.raises(Invalid) as refusal:
        save(people.person(), query=query)
    assert list(refusal.value.errors) == ["query"]


def test_names_are_needed_bounded_and_taken_once_by_one_person() -> None:
    owner, other = people.person(), people.person()
    assert save(owner, "  Two   words ").name == "Two words"
    for name in ("", "  ", "x" * 81, "two WORDS"):
        with pytest.raises(Invalid):
            save(owner, name)
    assert save(other, "Two words").owner == other
    with pytest.raises(Invalid):
        services.view_change(actor=owner, view_id=save(owner, "Third").pk, changes={"name": "Two words"})


def test_a_person_keeps_so_many_views_and_no_more() -> None:
    owner = people.person()
    for number in range(MOST_VIEWS):
        save(owner, f"View {number}")
    with pytest.raises(Invalid):
        save(owner, "One more")


# --- seeing and changing


def test_a_private_view_is_not_there_for_others_and_a_shared_one_is() -> None:
    owner, other = people.person(), people.browser(people.person())
    private, shared = save(owner, "Private"), save(owner, "Everybody's", is_shared=True)
    assert other.get(f"/projects?view={private.pk}").status_code == 404
    assert other.get(f"/projects?view={shared.pk}").status_code == 200
    text = page(other)
    assert "Everybody&#x27;s" in text
    assert "Private" not in text
    assert other.get(f"/api/v1/project-views/{private.pk}").status_code == 404


def test_a_shared_view_shows_each_their_own_rows() -> None:
    lead, colleague = people.person(), people.person()
    factories.active_project(lead=lead, name="Of the lead")
    factories.active_project(lead=colleague, name="Of the colleague")
    factories.draft_project(lead=colleague, name="A draft")
    shared = save(lead, is_shared=True)
    text = page(people.browser(colleague), f"/projects?view={shared.pk}")
    assert "Of the colleague" in text
    assert "Of the lead" not in text
    assert "A draft" not in text
    assert current(text) == "Mine"
    assert "Copy to mine" in text
    assert "Rename, share" not in text


def test_a_shared_view_is_changed_by_its_owner_or_an_admin_only() -> None:
    owner, other, admin = people.person(), people.person(), people.admin()
    shared, private = save(owner, "Shared", is_shared=True), save(owner, "Private")
    for actor, view, refusal in ((other, shared, Forbidden), (other, private, NotFound), (admin, private, NotFound)):
        with pytest.raises(refusal):
            services.view_change(actor=actor, view_id=view.pk, changes={"name": "Other"})
        with pytest.raises(refusal):
            services.view_delete(actor=actor, view_id=view.pk)
    services.view_change(actor=admin, view_id=shared.pk, changes={"name": "By an admin", "query": "tier=high"})
    shared.refresh_from_db()
    assert (shared.name, shared.query, shared.owner) == ("By an admin", "tier=high", owner)
    entry = AuditEntry.objects.get(action="view.changed")
    assert entry.before is not None
    assert entry.after is not None
    assert (entry.before["name"], entry.after["name"]) == ("Shared", "By an admin")
    assert not AuditEntry.objects.filter(subject_id=str(private.pk), subject_type="portal.savedview").exists()


def test_a_deactivated_person_saves_nothing() -> None:
    owner = people.person()
    stale = Person.objects.get(pk=owner.pk)
    people.off_board(owner)
    with pytest.raises(Exception, match="deactivated"):
        save(stale)


def test_a_copy_is_private_and_has_a_name_of_its_own() -> None:
    owner, other = people.person(), people.person()
    shared = save(owner, "x" * 80, is_shared=True)
    first = services.view_copy(actor=other, view_id=shared.pk)
    second = services.view_copy(actor=other, view_id=shared.pk)
    assert (first.owner, first.query, first.is_shared, first.name) == (other, shared.query, False, "x" * 80)
    assert second.name == f"{'x' * 76} (2)"


# --- what is no longer there


def test_a_view_of_what_is_gone_opens_with_a_notice() -> None:
    owner = people.person()
    factories.active_project(lead=owner, name="Still here")
    area = ResearchArea.objects.create(name="gone", title="Gone")
    view = save(owner, query="area=gone&state=active&lead=nobody-more")
    area.delete()
    view.query += "&columns=tier,vanished&sort=-vanished,name&model=tpu"
    view.save()
    browser = people.browser(owner)
    text = page(browser, f"/projects?view={view.pk}")
    for word in ("area “gone”", "column “vanished”", "order by “-vanished”", "GPU model “tpu”", "lead “nobody-more”"):
        assert word in text
    assert "Keep the view as it is shown" in text
    assert browser.get(f"/projects/export/csv?view={view.pk}").status_code == 200
    assert browser.get(f"/projects?view={view.pk}&area=gone").status_code == 422


# --- deleting, and back


def test_a_deleted_view_comes_back_within_an_hour() -> None:
    owner = people.person()
    browser, view = people.browser(owner), save(owner, is_default=True)
    asked = browser.get(f"/projects/views/{view.pk}/delete").content.decode()
    assert "Delete the view" in asked
    text = page_after(browser, f"/projects/views/{view.pk}/delete")
    assert f'action="/projects/views/{view.pk}/restore"' in text
    assert browser.get(f"/projects?view={view.pk}").status_code == 404
    assert browser.post(f"/projects/views/{view.pk}/restore").status_code == 302
    assert browser.get("/projects")["Location"] == f"/projects?view={view.pk}"


def test_what_was_deleted_long_ago_or_is_replaced_does_not_come_back(freeze: Any) -> None:
    owner = people.person()
    view = save(owner)
    services.view_delete(actor=owner, view_id=view.pk)
    save(owner)
    with pytest.raises(Conflict, match="again by now"):
        services.view_restore(actor=owner, view_id=view.pk)
    freeze(clock.now() + UNDO_WITHIN * 1.01)
    with pytest.raises(Conflict, match="hour"):
        services.view_restore(actor=owner, view_id=view.pk)
    freeze(clock.now() + KEPT)
    save(owner, "Later")
    assert not SavedView.objects.filter(pk=view.pk).exists()


def test_a_stranger_restores_nothing() -> None:
    owner = people.person()
    view = save(owner)
    services.view_delete(actor=owner, view_id=view.pk)
    with pytest.raises(NotFound):
        services.view_restore(actor=people.admin(), view_id=view.pk)


# --- texts and the API


def test_markup_in_a_name_stays_text_on_every_page_of_views() -> None:
    owner = people.person()
    view = save(owner, SCRIPT, is_shared=True)
    for someone in (owner, people.admin(), people.person()):
        browser = people.browser(someone)
        for address in (
            "/projects",
            f"/projects?view={view.pk}",
            f"/projects?view={view.pk}&sort=name",
            "/projects/views",
        ):
            text = page(browser, address)
            assert SCRIPT not in text
            assert "&lt;script&gt;alert(1)" in text
    for act in ("edit", "delete"):
        assert SCRIPT not in page(people.browser(owner), f"/projects/views/{view.pk}/{act}")
    for form in ("csv", "xlsx"):
        assert people.browser(owner).get(f"/projects/export/{form}?view={view.pk}").status_code == 200


def test_a_program_keeps_reads_changes_and_deletes_views() -> None:
    owner, other = people.person(), people.api_client(people.person())
    client = people.api_client(owner)
    made = client.post(
        "/api/v1/project-views/", {"name": "By a program", "query": "sort=-used&tier=high"}, format="json"
    )
    assert made.status_code == 201
    assert made.json()["query"] == "tier=high&sort=-used"
    address = f"/api/v1/project-views/{made.json()['id']}/"
    assert other.get(address).status_code == 404
    changed = client.patch(address, {"is_shared": True, "is_default": True}, format="json").json()
    assert (changed["is_shared"], changed["is_default"], changed["is_mine"]) == (True, True, True)
    seen = other.get("/api/v1/project-views/").json()
    assert (seen["count"], seen["results"][0]["is_mine"], seen["results"][0]["is_default"]) == (1, False, False)
    assert other.patch(address, {"is_default": True}, format="json").status_code == 200
    assert other.patch(address, {"name": "Mine now"}, format="json").status_code == 403
    assert client.patch(address, {"query": "columns=goal"}, format="json").json()["errors"].keys() == {"query"}
    assert client.delete(address).status_code == 204
    assert client.get(address).status_code == 404


def test_views_of_who_leaves_stay_and_are_named() -> None:
    owner, other, admin = people.person(), people.person(), people.admin()
    shared, private = save(owner, "For all", is_shared=True), save(owner, "Mine")
    report = people.off_board(owner, actor=admin)
    named = {row["what"]: row["count"] for row in report.lines if row["room"] == "portal"}
    assert named == {"shared_views": 1, "private_views": 1}
    assert services.view_copy(actor=other, view_id=shared.pk).query == shared.query
    with pytest.raises(NotFound):
        services.view_copy(actor=admin, view_id=private.pk)
