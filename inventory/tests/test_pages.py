"""Pages and API of the machines: who may look, who may act."""

from decimal import Decimal

import pytest
from django.test import Client
from rest_framework.test import APIClient

from accounts.models import Person
from accounts.tests import factories as people
from inventory.models import EnrolmentToken, GpuModel, Node, Pool
from inventory.selectors import price_at
from inventory.services import node_report
from inventory.tests import factories as make
from kernel import clock
from kernel.models import AuditEntry

pytestmark = pytest.mark.django_db


def client(person: Person) -> Client:
    browser = Client()
    browser.force_login(person, backend=people.BACKEND)
    return browser


def api(person: Person) -> APIClient:
    caller = APIClient()
    caller.force_authenticate(person)
    return caller


@pytest.fixture
def admin() -> Person:
    return people.admin("ada")


@pytest.fixture
def node(admin: Person) -> Node:
    return make.enrolled(admin, "rack-7", 8)[0]


def test_everybody_signed_in_sees_nodes_and_nobody_else(node: Node) -> None:
    browser = client(people.person())
    for address in ("/nodes", "/nodes/", f"/nodes/{node.pk}/", "/pools/"):
        assert browser.get(address).status_code == 200
        assert Client().get(address).status_code == 302
    text = browser.get("/nodes/").content.decode()
    assert "rack-7" in text
    assert "Enrol a node" not in text
    assert browser.get("/nodes/999999/").status_code == 404


def test_a_lost_gpu_is_shown_as_a_difference(node: Node) -> None:
    seven = make.hardware("rack-7", 7)
    node_report(node=node, sync=make.sync(seven))
    browser = client(people.person())
    assert "7 of 8 reported" in browser.get("/nodes/").content.decode()
    assert "7 of 8 GPUs are reported" in browser.get(f"/nodes/{node.pk}/").content.decode()
    row = api(people.person()).get("/api/v1/nodes/").json()["results"][0]
    assert (row["gpus"], row["gpus_accepted"], row["gpus_reported"]) == (8, 8, 7)


def test_a_node_without_a_price_is_not_said_to_be_free(node: Node, admin: Person) -> None:
    assert "unknown price, which is not free" in client(admin).get(f"/nodes/{node.pk}/").content.decode()


def test_an_empty_list_says_what_will_be_here(admin: Person) -> None:
    assert "No nodes yet" in client(admin).get("/nodes/").content.decode()
    assert "No pools yet" in client(admin).get("/pools/").content.decode()


def test_filters_limit_the_list(node: Node, admin: Person) -> None:
    make.enrolled(admin, "rack-8", 1)
    browser = client(people.person())
    assert "rack-8" not in browser.get("/nodes/", {"q": "k-7"}).content.decode()
    assert "rack-8" not in browser.get("/nodes/", {"state": "down"}).content.decode()
    assert "rack-8" in browser.get("/nodes/", {"pool": "shared"}).content.decode()


def test_a_token_is_shown_once_with_the_command(admin: Person) -> None:
    make.pool()
    browser = client(admin)
    body = {"node_name": "rack-9", "pool": Pool.objects.get().pk, "source": "owned", "hours": 2}
    page = browser.post("/nodes/enrol/", body).content.decode()
    assert "sle_" in page
    assert "python -m agent" in page
    again = browser.get("/nodes/enrol/").content.decode()
    assert "sle_" not in again
    assert "rack-9" in again
    assert browser.post("/nodes/enrol/", body | {"node_name": "rack 9"}).status_code == 422
    token = EnrolmentToken.objects.get()
    assert browser.get(f"/nodes/enrol/{token.pk}/revoke/").status_code == 200
    assert browser.post(f"/nodes/enrol/{token.pk}/revoke/").status_code == 302
    assert "Revoked" in browser.get("/nodes/enrol/").content.decode()


def test_only_admins_reach_what_changes_something(node: Node) -> None:
    addresses = ["/nodes/enrol/", "/nodes/enrol/1/revoke/", f"/nodes/{node.pk}/price/", "/pools/new/", "/pools/1/edit/"]
    for someone in (people.person(), people.director(), people.auditor()):
        browser = client(someone)
        for address in addresses:
            assert browser.get(address).status_code == 403, address
            assert browser.post(address, {}).status_code == 403, address


def test_a_price_is_set_for_some_hours(node: Node, admin: Person) -> None:
    browser = client(admin)
    body = {"per_gpu_hour": "2.50", "currency": "eur", "first": "00:00", "last": ""}
    assert browser.get(f"/nodes/{node.pk}/price/").status_code == 200
    assert browser.post(f"/nodes/{node.pk}/price/", body).status_code == 302
    price = price_at(node.pk, clock.now())
    assert price is not None
    assert (price.per_gpu_hour, price.currency) == (Decimal("2.50"), "EUR")
    wrong = browser.post(f"/nodes/{node.pk}/price/", body | {"first": "10:00", "last": "09:00"})
    assert wrong.status_code == 422
    assert "2.50 EUR" in browser.get(f"/nodes/{node.pk}/").content.decode()


def test_pools_are_made_and_edited(admin: Person) -> None:
    browser = client(admin)
    body = {"name": "fast", "title": "Fast", "purpose": "", "grace_s": 60, "lost_after_s": 30}
    assert browser.post("/pools/new/", body).status_code == 302
    assert browser.post("/pools/new/", body).status_code == 422
    pool = Pool.objects.get()
    assert browser.get(f"/pools/{pool.pk}/edit/").status_code == 200
    assert browser.post(f"/pools/{pool.pk}/edit/", body | {"grace_s": 90}).status_code == 302
    pool.refresh_from_db()
    assert (pool.grace_s, pool.max_runtime_bound_s) == (90, None)
    assert browser.post(f"/pools/{pool.pk}/edit/", body | {"lost_after_s": 1}).status_code == 422


def test_the_api_of_nodes_pools_and_tokens(node: Node, admin: Person) -> None:
    someone = api(people.person())
    row = someone.get("/api/v1/nodes").json()["results"][0]
    expected = {"id": node.pk, "name": "rack-7", "state": "up", "gpu_model": "h100", "gpus": 8, "pool": "shared"}
    assert expected.items() <= row.items()
    assert row["is_simulated"] is False
    assert len(someone.get(f"/api/v1/nodes/{node.pk}/").json()["devices"]) == 8
    assert someone.get("/api/v1/nodes/99999/").status_code == 404
    assert someone.get("/api/v1/nodes/?state=down").json()["count"] == 0
    assert someone.get("/api/v1/nodes/?state=odd").status_code == 422
    assert someone.get("/api/v1/nodes/?gpu_model=h100").json()["count"] == 1
    pool = someone.get("/api/v1/pools/").json()["results"][0]
    assert (pool["name"], pool["nodes"], pool["nodes_up"], pool["gpus"]) == ("shared", 1, 1, 8)
    assert APIClient().get("/api/v1/nodes/").status_code == 401

    boss = api(admin)
    body = {"node_name": "rack-9", "pool": "shared"}
    first = boss.post("/api/v1/enrolment-tokens/", body, format="json", headers={"Idempotency-Key": "t1"})
    again = boss.post("/api/v1/enrolment-tokens/", body, format="json", headers={"Idempotency-Key": "t1"})
    assert (first.status_code, again.status_code) == (201, 201)
    assert first.json()["token"].startswith("sle_")
    assert "token" not in again.json()
    assert again.json()["id"] == first.json()["id"]
    pk = first.json()["id"]
    assert boss.post(f"/api/v1/enrolment-tokens/{pk}/revoke/").json()["state"] == "revoked"
    assert boss.post("/api/v1/enrolment-tokens/", body | {"pool": "nowhere"}, format="json").status_code == 422
    price = boss.post(f"/api/v1/nodes/{node.pk}/price/", {"per_gpu_hour": "1.2"}, format="json")
    assert price.json()["price"] == {"per_gpu_hour": "1.2000", "currency": "USD"}
    assert boss.post("/api/v1/pools/", {"name": "x", "title": "X"}, format="json").status_code == 201
    assert boss.patch(f"/api/v1/pools/{pool['id']}/", {"grace_s": 5}, format="json").json()["grace_s"] == 5


@pytest.mark.parametrize("role", ["person", "director", "auditor"])
def test_others_write_nothing_over_the_api(node: Node, role: str) -> None:
    caller = api(getattr(people, role)())
    posts = ["pools/", "enrolment-tokens/", f"nodes/{node.pk}/price/", "enrolment-tokens/1/revoke/"]
    for address in posts:
        assert caller.post(f"/api/v1/{address}", {}, format="json").status_code == 403, address
    assert caller.patch(f"/api/v1/pools/{node.pool_id}/", {}, format="json").status_code == 403
    expected = 200 if role == "auditor" else 403
    assert caller.get("/api/v1/enrolment-tokens/").status_code == expected


def test_the_list_costs_the_same_for_one_node_and_for_many(
    admin: Person, django_assert_max_num_queries: object
) -> None:
    for index in range(6):
        make.enrolled(admin, f"n{index}", 2)
    browser = client(people.person())
    browser.get("/nodes/")
    with django_assert_max_num_queries(9):  # type: ignore[operator]
        browser.get("/nodes/")


def test_a_model_is_rated_by_an_admin_and_shown_to_all() -> None:
    model = GpuModel.objects.create(name="odd", title="Odd one")
    admin = people.admin()
    address = f"/gpu-models/{model.pk}/edit/"
    assert "Not rated" in people.browser(people.person()).get("/gpu-models/").content.decode()
    assert people.browser(people.person()).get(address).status_code == 403
    refused = people.browser(admin).post(address, {"title": "Odd one", "suitability": "-1"})
    assert refused.status_code == 422
    assert people.browser(admin).post(address, {"title": "Odd one", "suitability": "0.125"}).status_code == 302
    assert "0.125" in people.browser(people.person()).get("/gpu-models/").content.decode()
    entry = AuditEntry.objects.filter(action="gpu_model.changed").latest("id")
    assert (entry.before or {})["suitability"] == "0.000"
    assert (entry.after or {})["suitability"] == "0.125"
