"""The ledger over HTTP: fields by name, refusals by code, once per key."""

from datetime import timedelta
from typing import Any

import pytest
from rest_framework.test import APIClient

from accounts.models import Person
from accounts.tests import factories as people
from inventory.models import GpuModel
from inventory.tests import factories as machines
from kernel import clock
from projects.models import Project
from projects.tests.factories import active_project, draft_project
from quotas import usage
from quotas.models import Claim
from quotas.tests import factories as make

pytestmark = pytest.mark.django_db
QUOTAS = "/api/v1/quotas/"
MODELS = "/api/v1/gpu-models/"


def client(person: Person | None) -> APIClient:
    api = APIClient()
    if person is not None:
        api.force_authenticate(person)
    return api


@pytest.fixture
def ground() -> tuple[GpuModel, Project, Person]:
    lead = people.person("lee")
    return make.capacity(8, reserve=1000)[0], active_project(lead=lead), lead


Ground = tuple[GpuModel, Project, Person]


def test_a_grant_has_exactly_the_named_fields(ground: Ground) -> None:
    model, project, lead = ground
    body = {"project": project.pk, "gpu_model": "h100", "guaranteed": 4, "limit": 6, "reason": "first"}
    response = client(make.granter()).post(QUOTAS, body, format="json")
    assert response.status_code == 201
    row = response.json()
    assert row == {
        "id": Claim.objects.get().pk,
        "project": project.pk,
        "resource": "gpu",
        "gpu_model": "h100",
        "kind": "base",
        "guaranteed": 4,
        "limit": 6,
        "used": row["used"],
        "effective_from": row["effective_from"],
        "effective_to": None,
        "source": "grant",
        "reason": "first",
    }
    listed = client(lead).get(QUOTAS).json()
    assert listed == {"count": 1, "results": [row]}
    assert client(lead).get(f"{QUOTAS}{row['id']}").json() == row
    assert client(make.granter()).post(QUOTAS, body | {"gpu_model": str(model.pk)}, format="json").status_code == 201


def test_models_show_capacity_reserve_and_promises_and_live_ones_come_first(ground: Ground) -> None:
    model, project, lead = ground
    GpuModel.objects.create(name="a-model-of-no-node", title="A")
    make.grant(project, model, 3)
    node, _answer = machines.enrolled(make.granter(), "other", 2, "NVIDIA L4")
    answer = client(lead).get(MODELS).json()
    assert [row["name"] for row in answer["results"]] == ["a-model-of-no-node", "h100", "l4"]
    node.last_seen_at = clock.database_now()
    node.save(update_fields=["last_seen_at"])
    rows = client(lead).get(MODELS).json()["results"]
    assert [row["name"] for row in rows] == ["l4", "a-model-of-no-node", "h100"]
    h100 = {key: rows[2][key] for key in ("id", "name", "capacity", "reserve", "usable", "promised")}
    assert h100 == {"id": model.pk, "name": "h100", "capacity": 8, "reserve": 1, "usable": 7, "promised": 3}


def test_a_stranger_sees_no_row_and_no_detail(ground: Ground) -> None:
    model, project, _lead = ground
    claim = make.grant(project, model, 1)
    stranger = client(people.person())
    assert stranger.get(QUOTAS).json()["count"] == 0
    for response in (stranger.get(f"{QUOTAS}{claim.pk}/"), stranger.post(f"{QUOTAS}{claim.pk}/end/", {})):
        assert (response.status_code, response.json()["code"]) == (404, "not_found")


@pytest.mark.parametrize(
    ("role", "code"), [("nobody", 401), ("lead", 403), ("director", 403), ("auditor", 403), ("stranger", 403)]
)
def test_only_admins_write(ground: Ground, role: str, code: int) -> None:
    model, project, lead = ground
    people_by_role: dict[str, Person | None] = {
        "nobody": None,
        "lead": lead,
        "director": people.director(),
        "auditor": people.auditor(),
        "stranger": people.person(),
    }
    someone = people_by_role[role]
    node = model.nodes.get()
    body = {"project": project.pk, "gpu_model": "h100", "guaranteed": 1}
    api = client(someone)
    assert api.post(QUOTAS, body, format="json").status_code == code
    assert api.post("/api/v1/area-quotas/", {}, format="json").status_code == code
    assert api.post(f"{MODELS}{model.pk}/reserve/", {"basis_points": 0}, format="json").status_code == code
    assert api.patch(f"{MODELS}{model.pk}/", {"title": "X"}, format="json").status_code == code
    assert api.post(f"/api/v1/nodes/{node.pk}/capacity/", {"gpus": 1}, format="json").status_code == code
    assert api.post(f"/api/v1/nodes/{node.pk}/move/", {"pool": "x"}, format="json").status_code == code
    assert api.post(f"/api/v1/pools/{node.pool_id}/dedicate/", {}, format="json").status_code == code
    assert api.post(f"/api/v1/pools/{node.pool_id}/release/", {}, format="json").status_code == code
    assert not Claim.objects.exists()


def test_refusals_have_their_code_and_their_numbers(ground: Ground) -> None:
    _model, project, _lead = ground
    admin = client(make.granter())
    body: dict[str, Any] = {"project": project.pk, "gpu_model": "h100", "guaranteed": 10**9}
    answer = admin.post(QUOTAS, body, format="json")
    assert (answer.status_code, answer.json()["code"], answer.json()["free"]) == (422, "exceeds_free", 7)
    assert "7 of 7 usable GPUs are free" in answer.json()["errors"]["guaranteed"][0]
    for change, field in (
        ({"gpu_model": "h9000"}, "gpu_model"),
        ({"gpu_model": None}, "gpu_model"),
        ({"guaranteed": "many"}, "guaranteed"),
        ({"guaranteed": 1, "project": 10**9}, "project"),
        ({"guaranteed": 1, "effective_from": "yesterday"}, "effective_from"),
        ({"guaranteed": 1, "effective_from": "2020-01-01T00:00:00Z"}, "effective_from"),
    ):
        answer = admin.post(QUOTAS, body | change, format="json")
        assert answer.status_code == 422, change
        assert field in answer.json()["errors"]
    draft = draft_project()
    answer = admin.post(QUOTAS, {"project": draft.pk, "gpu_model": "h100", "guaranteed": 1}, format="json")
    assert (answer.status_code, answer.json()["code"]) == (409, "project_not_active")


def test_an_own_project_is_refused_even_to_an_admin() -> None:
    make.capacity(8)
    admin = people.admin()
    project = active_project(lead=admin)
    body = {"project": project.pk, "gpu_model": "h100", "guaranteed": 1}
    answer = client(admin).post(QUOTAS, body, format="json")
    assert (answer.status_code, answer.json()["code"]) == (403, "own_project")


def test_the_same_key_grants_once(ground: Ground) -> None:
    _model, project, _lead = ground
    body = {"project": project.pk, "gpu_model": "h100", "guaranteed": 2}
    admin = client(make.granter())
    answers = [admin.post(QUOTAS, body, format="json", headers={"Idempotency-Key": "k1"}) for _ in range(2)]
    assert [answer.status_code for answer in answers] == [201, 201]
    assert answers[0].json() == answers[1].json()
    assert Claim.objects.count() == 1


def test_who_had_how_much_then(ground: Ground) -> None:
    model, project, lead = ground
    then = clock.now() + timedelta(days=1)
    make.grant(project, model, 2)
    make.grant(project, model, 5, effective_from=then + timedelta(days=1))
    api = client(lead)
    for at in (then.isoformat(), then.isoformat().replace("+", "%2B"), then.replace(tzinfo=None).isoformat()):
        assert [row["guaranteed"] for row in api.get(f"{QUOTAS}?at={at}").json()["results"]] == [2]
    later = (then + timedelta(days=2)).isoformat().replace("+00:00", "Z")
    assert [row["guaranteed"] for row in api.get(f"{QUOTAS}?at={later}").json()["results"]] == [5]
    assert api.get(f"{QUOTAS}?at=then").status_code == 422


def test_lists_are_filtered_and_ordered_by_what_is_allowed(ground: Ground) -> None:
    model, project, lead = ground
    make.grant(project, model, 2)
    api = client(lead)
    assert api.get(f"{QUOTAS}?project={project.pk}&resource=gpu&gpu_model=h100").json()["count"] == 1
    assert api.get(f"{QUOTAS}?project={project.pk + 1}").json()["count"] == 0
    assert api.get(f"{QUOTAS}?ordering=-guaranteed").status_code == 200
    assert api.get(f"{QUOTAS}?ordering=granted_by__password").status_code == 422


def test_use_is_unknown_until_somebody_can_tell(ground: Ground, monkeypatch: pytest.MonkeyPatch) -> None:
    model, project, lead = ground
    make.grant(project, model, 2)
    monkeypatch.setattr(usage, "_readers", [])
    assert client(lead).get(QUOTAS).json()["results"][0]["used"] is None
    usage.register(lambda at, ids: {(project.pk, "gpu", model.pk): 1.5} if project.pk in ids else {})
    assert client(lead).get(QUOTAS).json()["results"][0]["used"] == 1.5
    with pytest.raises(ValueError, match="already"):
        usage.register(lambda at, ids: {})


def test_a_claim_is_ended_over_the_api(ground: Ground) -> None:
    model, project, lead = ground
    claim = make.grant(project, model, 2)
    assert client(lead).post(f"{QUOTAS}{claim.pk}/end/", {}, format="json").status_code == 403
    admin = client(make.granter())
    assert admin.post(f"{QUOTAS}{claim.pk}/end/", {"reason": "done"}, format="json").status_code == 200
    assert admin.post(f"{QUOTAS}{claim.pk}/end/", {}, format="json").status_code == 409


def test_capacity_reserve_and_pools_over_the_api(ground: Ground) -> None:
    model, project, _lead = ground
    make.grant(project, model, 5)
    node, admin = model.nodes.get(), client(make.granter())
    capacity, reserve = f"/api/v1/nodes/{node.pk}/capacity/", f"{MODELS}{model.pk}/reserve/"
    assert admin.post(capacity, {"gpus": 6}, format="json").json() == {"id": node.pk, "name": "n1", "gpus": 6}
    answer = admin.post(capacity, {"gpus": 5}, format="json")
    assert (answer.status_code, answer.json()["code"], answer.json()["promised"]) == (409, "promises_exceed", 5)
    assert admin.post(capacity, {"gpus": 9}, format="json").status_code == 422
    assert admin.post(reserve, {"basis_points": 5000}, format="json").status_code == 409
    assert admin.post(reserve, {"basis_points": 0}, format="json").json()["usable"] == 6
    pool = f"/api/v1/pools/{node.pool_id}"
    assert admin.post(f"{pool}/dedicate/", {"purpose": "inference"}, format="json").status_code == 409
    assert admin.get(f"{pool}/").json()["kind"] == "shared"


def test_an_area_gets_its_own_on_top(ground: Ground) -> None:
    admin = client(make.granter())
    body = {"area": make.area().pk, "gpu_model": "h100", "guaranteed": 3}
    assert admin.post("/api/v1/area-quotas/", body, format="json").status_code == 201
    assert admin.get("/api/v1/area-quotas/").json()["results"][0]["area"] == "vision"
    assert client(people.person()).get("/api/v1/area-quotas/").status_code == 403
    assert admin.get(MODELS).json()["results"][0]["promised"] == 3
