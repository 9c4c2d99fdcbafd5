"""Registering, reading, changing and listing projects through the API, by the published names of fields."""

from datetime import date
from typing import Any

import pytest
from rest_framework.test import APIClient

from accounts.models import Person
from accounts.tests import factories as people
from projects import services
from projects.models import Project, ProjectChange, Tier
from projects.tests import factories

pytestmark = pytest.mark.django_db

LIST = "/api/v1/projects/"
FULL: dict[str, Any] = {
    "name": "Sparse attention",
    "goal": "Half the cost at the same loss",
    "kind": "research",
    "stage": "training",
    "expected_compute": [{"gpu_model": "h100", "min": 1, "target": 2, "max": 8}],
    "milestones": [{"name": "First run", "due_on": "2030-05-01"}],
    "breakthrough": 7,
    "datasets": ["corpora/web"],
}


@pytest.fixture
def lead() -> Person:
    factories.gpu_model("h100")
    factories.gpu_model("a100")
    return people.person("the-lead", display_name="Lena Lead")


@pytest.fixture
def client(lead: Person) -> APIClient:
    return people.api_client(lead)


def errors(response: Any) -> dict[str, list[str]]:
    assert response.status_code == 422, response.content
    found: dict[str, list[str]] = response.json()["errors"]
    return found


def test_a_draft_may_lack_anything(client: APIClient) -> None:
    first, second = client.post(LIST, {}), client.post(LIST, {})
    assert (first.status_code, second.status_code) == (201, 201)
    body = first.json()
    assert (body["name"], body["state"], body["tier"], body["expected_compute"]) == ("", "draft", None, [])
    assert body["lead"]["username"] == "the-lead"
    assert body["members_count"] == 1
    assert body["can"] == ["close", "edit", "manage_members", "measure", "submit"]


def test_what_was_stated_is_what_is_stored(client: APIClient) -> None:
    created = client.post(LIST, FULL).json()
    read = client.get(f"{LIST}{created['id']}").json()
    for field in ("name", "goal", "kind", "stage", "expected_compute", "breakthrough", "datasets"):
        assert read[field] == FULL[field], field
    assert [(row["name"], row["due_on"], row["met_on"]) for row in read["milestones"]] == [
        ("First run", "2030-05-01", None)
    ]
    assert read == created


def test_the_same_key_makes_one_project(client: APIClient) -> None:
    answers = [client.post(LIST, FULL, headers={"Idempotency-Key": "once"}) for _attempt in range(2)]
    assert [answer.status_code for answer in answers] == [201, 201]
    assert answers[0].json()["id"] == answers[1].json()["id"]
    assert Project.objects.count() == 1


def test_a_taken_name_is_refused_in_any_case_of_letters(client: APIClient) -> None:
    client.post(LIST, FULL)
    again = people.api_client(people.person())
    assert "SPARSE attention" in errors(again.post(LIST, {"name": "  SPARSE   attention "}))["name"][0]
    assert Project.objects.count() == 1
    other = again.post(LIST, {"name": "Another"}).json()
    assert "Sparse Attention" in errors(again.patch(f"{LIST}{other['id']}", {"name": "Sparse Attention"}))["name"][0]


def test_the_name_of_a_closed_project_is_free_again(client: APIClient) -> None:
    factories.closed_project(name="Sparse attention")
    assert client.post(LIST, FULL).status_code == 201


def test_an_unknown_gpu_model_names_those_there_are(client: APIClient) -> None:
    body = {"expected_compute": [{"gpu_model": "h1000", "min": 0, "target": 1, "max": 1}]}
    text = errors(client.post(LIST, body))["expected_compute.0.gpu_model"][0]
    assert "h1000" in text
    assert "a100, h100" in text


def test_a_gpu_model_may_be_given_by_id(client: APIClient) -> None:
    model = factories.gpu_model("a100")
    body = {"expected_compute": [{"gpu_model": model.pk, "min": 0, "target": 1, "max": 1}]}
    assert client.post(LIST, body).json()["expected_compute"][0]["gpu_model"] == "a100"
    twice = {"expected_compute": [{"gpu_model": name, "target": 1, "max": 1} for name in (model.pk, "a100")]}
    assert "expected_compute.1.gpu_model" in errors(client.post(LIST, twice))


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"expected_compute": [{"gpu_model": "h100", "min": 3, "target": 2, "max": 4}]}, "expected_compute.0.target"),
        ({"expected_compute": [{"gpu_model": "h100", "target": 1, "max": 10**9}]}, "expected_compute.0.max"),
        ({"expected_compute": [{"gpu_model": "h100", "target": -1, "max": 1}]}, "expected_compute.0.target"),
        ({"expected_compute": [{"gpu_model": "h100", "target": 0, "max": 0}]}, "expected_compute.0.max"),
        ({"expected_compute": [{"gpu_model": "h100"}]}, "expected_compute.0.target"),
        ({"expected_compute": 7}, "expected_compute.non_field_errors"),
        ({"breakthrough": 11}, "breakthrough"),
        ({"breakthrough": -1}, "breakthrough"),
        ({"breakthrough": 2**80}, "breakthrough"),
        ({"stage": "finished"}, "stage"),
        ({"kind": "toy"}, "kind"),
        ({"data_class": "secret"}, "data_class"),
        ({"area": "nowhere"}, "area"),
        ({"name": "x" * 201}, "name"),
        ({"name": "nul\0"}, "name"),
        ({"milestones": [{"name": "", "due_on": "2030-01-01"}]}, "milestones.0.name"),
        ({"milestones": [{"name": "A", "due_on": "soon"}]}, "milestones.0.due_on"),
        ({"milestones": [{"name": "A", "due_on": "2030-01-01", "met_on": "2999-01-01"}]}, "milestones.0.met_on"),
        ({"milestones": [{"name": n, "due_on": "2030-01-01"} for n in ("A", "a")]}, "milestones.1.name"),
        ({"datasets": ["x" * 201]}, "datasets.0"),
        ({"state": "active"}, "state"),
        ({"tier": "high"}, "tier"),
    ],
)
def test_what_cannot_be_taken_is_named_by_field(client: APIClient, body: dict[str, Any], field: str) -> None:
    response = client.post(LIST, body)
    if response.status_code == 400:
        assert field == "name"  # NUL characters are refused before any field is looked at.
    else:
        assert field in errors(response)
    assert not Project.objects.exists()


def test_submit_says_everything_that_is_missing(client: APIClient) -> None:
    draft = client.post(LIST, {}).json()
    missing = errors(client.post(f"{LIST}{draft['id']}/submit/"))
    assert sorted(missing) == ["breakthrough", "expected_compute", "goal", "milestones", "name", "stage"]
    for field in sorted(missing):
        still = errors(client.post(f"{LIST}{draft['id']}/submit/"))
        assert field in still
        client.patch(f"{LIST}{draft['id']}/", {field: FULL[field]})
    assert client.post(f"{LIST}{draft['id']}/submit/").json()["state"] == "submitted"


def test_a_breakthrough_of_nought_is_an_answer(client: APIClient) -> None:
    draft = client.post(LIST, {**FULL, "breakthrough": 0}).json()
    assert client.post(f"{LIST}{draft['id']}/submit").status_code == 200


def test_a_submitted_project_is_fixed_until_it_is_withdrawn(client: APIClient) -> None:
    created = client.post(LIST, FULL).json()
    client.post(f"{LIST}{created['id']}/submit/")
    refused = client.patch(f"{LIST}{created['id']}/", {"goal": "Another"})
    assert refused.status_code == 409
    assert refused.json()["code"] == "not_editable"
    client.post(f"{LIST}{created['id']}/withdraw/")
    assert client.patch(f"{LIST}{created['id']}/", {"goal": "Another"}).json()["goal"] == "Another"


def test_who_may_change_what_of_an_approved_project(lead: Person, client: APIClient) -> None:
    project = factories.active_project(lead=lead)
    url = f"{LIST}{project.pk}/"
    assert client.patch(url, {"stage": "training", "goal": "More"}).status_code == 200
    assert client.patch(url, {"kind": "product"}).status_code == 403
    # A form sends every field: one that stays as it is takes no right.
    assert client.patch(url, {"kind": "research", "goal": "Most"}).status_code == 200
    admin = people.api_client(people.admin())
    assert admin.patch(url, {"kind": "product", "data_class": "restricted"}).json()["kind"] == "product"
    assert admin.patch(url, {"goal": "Mine"}).status_code == 403
    project.refresh_from_db()
    assert (project.kind, project.data_class, project.goal) == ("product", "restricted", "Most")
    assert people.api_client(people.auditor()).patch(url, {"goal": "Mine"}).status_code == 403


def test_a_stranger_learns_nothing(lead: Person) -> None:
    project = factories.active_project(lead=lead)
    stranger = people.api_client(people.person())
    missing = project.pk + 10_000
    for method, tail, body in [
        ("get", "/", None),
        ("patch", "/", {"nonsense": 1}),
        ("get", "/members/", None),
        ("post", "/members/", {}),
        ("delete", f"/members/{lead.pk}/", None),
        ("get", "/history/", None),
        ("post", "/tier/", {"tier": "nonsense"}),
        ("post", "/approve/", {"nonsense": 1}),
    ]:
        answers = [getattr(stranger, method)(f"{LIST}{pk}{tail}", body) for pk in (project.pk, missing)]
        assert [answer.status_code for answer in answers] == [404, 404], (method, tail)
        assert answers[0].json() == answers[1].json()
    assert stranger.get(LIST).json() == {"count": 0, "results": []}


def test_a_patch_on_older_content_is_refused(lead: Person, client: APIClient) -> None:
    created = client.post(LIST, FULL).json()
    url = f"{LIST}{created['id']}/"
    changed = client.patch(url, {"goal": "By one tab", "seen": created["content"]}).json()
    refused = client.patch(url, {"goal": "By the other tab", "seen": created["content"]})
    assert refused.status_code == 409
    assert refused.json()["changed"] == ["goal"]
    assert client.patch(url, {"goal": "Seen", "seen": changed["content"]}).status_code == 200


def test_stage_and_milestones_change_by_patch_and_are_kept(lead: Person, client: APIClient) -> None:
    project = factories.active_project(lead=lead)
    url = f"{LIST}{project.pk}/"
    first = client.get(url).json()["milestones"][0]
    client.patch(url, {"stage": "evaluation"})
    client.patch(url, {"milestones": [{**first, "due_on": "2031-01-31"}, {"name": "Second", "due_on": "2032-02-02"}]})
    client.patch(url, {"milestones": [{"name": "First result", "due_on": "2031-01-31", "met_on": "2020-01-01"}]})
    lines = ProjectChange.objects.filter(project=project).exclude(field="member").order_by("id")
    told = [(line.field, _short(line.before), _short(line.after)) for line in lines]
    assert told == [
        ("stage", "exploration", "evaluation"),
        ("milestone", ("First result", "2030-01-31", None), ("First result", "2031-01-31", None)),
        ("milestone", None, ("Second", "2032-02-02", None)),
        ("milestone", ("Second", "2032-02-02", None), None),
        ("milestone", ("First result", "2031-01-31", None), ("First result", "2031-01-31", "2020-01-01")),
    ]
    assert [row["id"] for row in client.get(url).json()["milestones"]] == [first["id"]]


def _short(value: Any) -> Any:
    return (value["name"], value["due_on"], value["met_on"]) if isinstance(value, dict) else value


def test_a_milestone_of_another_project_is_out_of_reach(client: APIClient) -> None:
    other = factories.active_project()
    foreign = other.milestones.get()
    mine = client.post(LIST, FULL).json()
    body = {"milestones": [{"id": foreign.pk, "name": "Taken", "due_on": "2030-01-01"}]}
    assert "milestones.0.id" in errors(client.patch(f"{LIST}{mine['id']}", body))
    foreign.refresh_from_db()
    assert (foreign.name, foreign.due_on) == ("First result", date(2030, 1, 31))


def test_the_list_is_filtered_by_what_is_allowed(lead: Person) -> None:
    services.area_create(actor=factories.admin(), name="vision", title="Vision")
    factories.active_project(lead=lead, name="Alpha", tier=Tier.HIGH, stage="training")
    factories.active_project(name="Beta", goal="Find quarks", tier=Tier.LOW)
    factories.submitted_project(name="Gamma", area="vision")
    factories.draft_project(name="Delta", kind="product")
    auditor = people.api_client(people.auditor())

    def names(query: str) -> list[str]:
        response = auditor.get(f"{LIST}?{query}")
        assert response.status_code == 200, response.content
        body = response.json()
        assert body["count"] == len(body["results"])
        return [row["name"] for row in body["results"]]

    assert names("") == ["Alpha", "Beta", "Delta", "Gamma"]
    assert names("state=submitted") == ["Gamma"]
    assert names("state=submitted&state=draft") == ["Delta", "Gamma"]
    assert names("stage=training") == ["Alpha"]
    assert names("area=vision") == ["Gamma"]
    assert names("kind=product") == ["Delta"]
    assert names("tier=high") == ["Alpha"]
    assert names("tier=none") == ["Delta", "Gamma"]
    assert names("tier=low&tier=high") == ["Alpha", "Beta"]
    assert names("q=quark") == ["Beta"]
    assert names("q=lena") == ["Alpha"]
    assert names("q=%25") == []
    assert names("ordering=tier,-name") == ["Alpha", "Beta", "Gamma", "Delta"]
    assert names("ordering=-stage,-name") == ["Alpha", "Gamma", "Delta", "Beta"]
    assert names("page_size=500") == ["Alpha", "Beta", "Delta", "Gamma"]


@pytest.mark.parametrize(
    "query", ["ordering=created_by__password", "ordering=goal", "state=lost", "tier=best", "page_size=501", "stage=x"]
)
def test_the_list_refuses_what_is_not_allowed(query: str) -> None:
    response = people.api_client(people.auditor()).get(f"{LIST}?{query}")
    assert list(errors(response)) == [query.split("=")[0]]


def test_research_areas() -> None:
    url = "/api/v1/research-areas/"
    admin, member = people.api_client(people.admin()), people.api_client(people.person())
    assert member.post(url, {"name": "vision"}).status_code == 403
    assert admin.post(url, {"name": "vision", "title": "Vision"}).status_code == 201
    assert admin.post(url, {"name": "video", "parent": "vision"}).json()["parent"] == "vision"
    assert list(errors(admin.post(url, {"name": "vision"}))) == ["name"]
    assert list(errors(admin.post(url, {"name": "Not a key"}))) == ["name"]
    assert list(errors(admin.post(url, {"name": "x", "parent": "none"}))) == ["parent"]
    assert [row["name"] for row in member.get(url).json()["results"]] == ["video", "vision"]
    assert people.api_client().get(url).status_code == 401
