"""Beside the form of a registration: what is said about what it asks for, to whom, and at what cost."""

import json
from typing import Any
from uuid import uuid4

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from accounts.models import Person
from accounts.tests import factories as people
from inventory.capacity import Capacity
from inventory.models import GpuModel
from kernel.models import FormDraft
from portal.pages.registration import Against
from portal.tests.pages import world
from projects.facts import MAX_ROWS
from projects.registration.glance import Asked
from projects.registration.sheet import ProjectForms
from projects.tests import factories as registry

pytestmark = pytest.mark.django_db

ADDRESS = "/projects/consequence"
MOST_STATEMENTS = 12


@pytest.fixture
def where() -> world.World:
    return world.make()


def asking(target: int, **more: str) -> dict[str, str]:
    rows = {"compute-0-gpu_model": "h100", "compute-0-target": str(target)}
    return {"name": "Protein folding dynamics", "goal": "Fold faster", **rows, **more}


def said(someone: Person, data: dict[str, str], *, is_part: bool = True) -> str:
    headers = {"HX-Request": "true"} if is_part else {}
    answer = people.browser(someone).post(ADDRESS, data, headers=headers)
    assert answer.status_code == 200
    return " ".join(answer.content.decode().split())


def test_a_target_is_held_against_what_is_free(where: world.World) -> None:
    """Eight GPUs are usable, four of them promised."""
    page = said(people.person(), asking(2))
    assert "4</b> of 8 usable are free to promise" in page
    assert "Your target of 2 fits; it is 25 % of what is usable." in page
    assert "Your target of 6 exceeds that: expect less, or ask a director." in said(people.person(), asking(6))
    assert "Your target of 9 is more than all 8 usable" in said(people.person(), asking(9))
    least = said(people.person(), asking(6, **{"compute-0-min": "5"}))
    assert "Even the 5 that you need at least are not free now." in least


def test_without_a_model_the_supply_stands_there(where: world.World) -> None:
    page = said(people.person(), {"name": "x"})
    assert "H100</span>" in page
    assert "h100</span>" not in page
    assert "Choose a model in the form" in page


@pytest.mark.parametrize(
    ("usable", "promised", "target", "verdict", "share"),
    [
        (0, 0, 4, "none", None),
        (8, 8, 1, "tight", 12),
        (8, 4, 4, "fits", 50),
        (8, 0, 9, "never", 112),
        (8, 9, 0, "fits", 0),
    ],
)
def test_verdicts(usable: int, promised: int, target: int, verdict: str, share: int | None) -> None:
    model = GpuModel(name="h100", title="NVIDIA H100")
    line = Against(model, Capacity(usable, 0), promised, None, Asked("h100", 0, target, target))
    assert (line.verdict, line.share) == (verdict, share)
    assert line.free >= 0


def test_only_what_one_may_see_is_called_similar(where: world.World) -> None:
    data = asking(2, name="Protein dynamics")
    assert "Similar projects" not in said(people.person(), data)
    page = said(where.lead, data)
    assert f'href="/projects/{where.project.pk}" target="_blank"' in page
    assert str(where.lead) in page
    assert "Similar projects" not in said(where.lead, {**data, "_project": str(where.project.pk)})


def test_a_project_of_others_is_not_there(where: world.World) -> None:
    browser = people.browser(people.person())
    for project in (str(where.project.pk), "999999", "x", "1" * 30):
        assert browser.post(ADDRESS, {"_project": project}).status_code == 404


def test_what_is_missing_follows_the_form(where: world.World) -> None:
    page = said(people.person(), {"name": "x", "stage": "training"})
    assert 'id="form-progress" hx-swap-oob="true"' in page
    assert 'href="#id_goal"' in page
    assert 'href="#id_stage"' not in page
    assert "4 things missing" in page
    assert "What is still needed" not in said(where.lead, {"_project": str(where.project.pk)})


def test_without_a_script_it_is_a_page_of_its_own(where: world.World) -> None:
    page = said(people.person(), asking(6), is_part=False)
    assert page.startswith("<!doctype html>")
    assert "Nothing was saved or sent." in page
    assert "Your target of 6 exceeds that" in page
    assert "hx-swap-oob" not in page


@pytest.mark.parametrize("is_edit", [False, True])
def test_it_costs_twelve_statements_whatever_is_there(where: world.World, *, is_edit: bool) -> None:
    data = asking(2, name="Protein dynamics", datasets="a\nb")
    if is_edit:
        data["_project"] = str(registry.draft_project(lead=where.lead).pk)
    browser = people.browser(where.lead)

    def cost() -> int:
        with CaptureQueriesContext(connection) as captured:
            assert browser.post(ADDRESS, data, headers={"HX-Request": "true"}).status_code == 200
        assert len(captured) <= MOST_STATEMENTS, "\n".join(query["sql"][:160] for query in captured)
        return len(captured)

    cost()
    few = cost()
    world.grow(where)
    data |= {f"compute-{n}-gpu_model": "h100" for n in range(20)} | {f"milestones-{n}-name": "x" for n in range(20)}
    assert cost() == few


def test_the_form_costs_no_more_with_more_rows(where: world.World) -> None:
    browser = people.browser(where.lead)

    def cost(rows: int) -> int:
        key, data = uuid4(), {f"compute-{n}-target": ["1"] for n in range(rows)}
        data |= {f"milestones-{n}-name": ["x"] for n in range(rows)} | {f"team-{n}-person": ["x"] for n in range(rows)}
        assert keep(browser, str(key), data).status_code == 200
        with CaptureQueriesContext(connection) as captured:
            assert browser.get(f"/projects/new?draft={key}").status_code == 200
        return len(captured)

    cost(1)
    assert cost(1) == cost(20) <= 12


# --- saving as one types


def test_a_form_that_claims_a_million_rows_makes_no_more_than_twice_what_is_allowed() -> None:
    sent = {f"{name}-TOTAL_FORMS": "1000000" for name in ("compute", "milestones", "team")}
    forms = ProjectForms({**sent, **{f"{name}-INITIAL_FORMS": "0" for name in ("compute", "milestones", "team")}})
    assert [len(rows.forms) for rows in forms.sets] == [2 * MAX_ROWS] * 3
    assert not any(rows.is_valid() for rows in forms.sets)


def keep(browser: Client, key: str, data: Any, **more: Any) -> Any:
    body = json.dumps({"form": "projects.register", "data": data, **more})
    return browser.post(f"/form-drafts/{key}", body, content_type="application/json")


def test_a_save_answers_with_its_version_and_a_later_page_is_told() -> None:
    owner, key = people.browser(people.person()), str(uuid4())
    first = keep(owner, key, {"name": ["a"]}, writer="one")
    assert (first.status_code, first.json()["version"]) == (200, 1)
    told = keep(owner, key, {"name": ["b"]}, writer="two")
    assert (told.status_code, told.json()["version"]) == (409, 1)
    assert told.json()["saved_at"] == first.json()["saved_at"]
    assert keep(owner, key, {"name": ["b"]}, writer="two", version=1).json()["version"] == 2
    assert keep(owner, str(uuid4()), {"name": ["b"]}, version=3).status_code == 404


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b"", 422),
        (b"[]", 422),
        (b"{", 422),
        (b'{"form": "projects.register"}', 422),
        (b'{"form": "projects.register", "data": {"name": 4}}', 422),
        (b'{"form": "projects.register", "data": {"name": ["\\u0000"]}}', 422),
        (b'{"form": "projects.register", "data": {"name": ["\\ud800"]}}', 422),
        (b'{"form": "nobody.knows", "data": {}}', 422),
        (b'{"form": "projects.register", "data": {}, "version": "x"}', 422),
        (b'{"form": "projects.register", "data": {}, "version": 1e999}', 422),
        (b'{"form": "projects.register", "data": {}, "subject": "\\u0000"}', 422),
        (b"[" * 100_000, 422),
        (b" " * 200_000, 413),
    ],
)
def test_what_is_no_form_is_refused_in_words(body: bytes, code: int) -> None:
    answer = people.browser(people.person()).post(f"/form-drafts/{uuid4()}", body, content_type="application/json")
    assert answer.status_code == code
    assert answer.json()["message"]
    assert not FormDraft.objects.exists()


@pytest.mark.parametrize("subject", ["", "project:", "project:abc", "project:" + "9" * 60, "x", "project:²"])
def test_a_draft_about_nothing_is_listed_and_can_be_discarded(subject: str) -> None:
    owner, key = people.browser(people.person()), str(uuid4())
    assert keep(owner, key, {"name": ["a"]}, form="projects.edit", subject=subject).status_code == 200
    assert owner.get("/").status_code == 200
    assert owner.get(f"/form-drafts/{key}/discard").status_code == 200
    assert owner.post(f"/form-drafts/{key}/discard").status_code == 302


def test_a_save_needs_the_page_s_csrf_token() -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(people.person(), backend=people.BACKEND)
    assert keep(client, str(uuid4()), {}).status_code == 403
