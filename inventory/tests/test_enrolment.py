"""Enrolment by a one-time token (OPS4): once, in time, in the name of the admin who issued it."""

import json
import threading
from datetime import timedelta
from typing import Any

import msgspec
import pytest
from django.db import connection
from django.test import Client
from rest_framework.test import APIRequestFactory

from accounts.models import Role, RoleGrant
from accounts.tests import factories as people
from inventory.api.authentication import NodeAuthentication
from inventory.errors import (
    DeviceElsewhere,
    EnrolmentTokenSpent,
    ProtocolMismatch,
    UnknownEnrolmentToken,
    UnknownNode,
)
from inventory.models import CapacityFact, Device, EnrolmentToken, GpuModel, Node, Source
from inventory.selectors import capacity_at
from inventory.services import EnrolmentSpec, enrolment_token_issue, enrolment_token_revoke, node_enrol
from inventory.states import NodeState
from inventory.tests import factories as make
from kernel import clock
from kernel.errors import Conflict, Forbidden, Invalid
from kernel.models import AuditEntry
from kernel.states import transition

pytestmark = pytest.mark.django_db
ENROL = "/agent/v1/enrol"


def post(client: Client, message: object) -> tuple[int, dict[str, Any]]:
    response = client.post(ENROL, msgspec.json.encode(message), content_type="application/json")
    return response.status_code, json.loads(response.content)


def test_a_node_enrols_once_and_its_gpus_become_capacity(client: Client) -> None:
    admin = people.admin()
    message = make.enrol_message(make.token(admin, "n1"), make.hardware("n1", 8))
    status, body = post(client, message)
    assert status == 201
    node = Node.objects.get()
    assert body == {
        "node_id": node.pk,
        "node_name": "n1",
        "token": body["token"],
        "queue": f"node-{node.pk}",
    }
    model = GpuModel.objects.get()
    assert (model.name, node.gpu_model, node.state, node.accepted_by) == ("h100", model, NodeState.UP, admin)
    assert capacity_at(clock.now())[model.pk].capacity == 8
    fact = CapacityFact.objects.get()
    assert (fact.accepted_by, fact.pool, fact.gpus) == (admin, node.pool, 8)
    assert body["token"] not in str(Node.objects.values())
    assert AuditEntry.objects.filter(action="node.enrolled", actor_id=str(admin.pk)).count() == 1

    status, body = post(client, message)
    assert (status, body["code"], body["reason"]) == (409, "enrolment_token_spent", "used")
    assert Node.objects.count() == 1


def test_an_unknown_token_is_401(client: Client) -> None:
    status, body = post(client, make.enrol_message("sle_never", make.hardware("n1")))
    assert (status, body["code"]) == (401, "enrolment_token_unknown")
    with pytest.raises(UnknownEnrolmentToken):
        node_enrol(message=make.enrol_message("sle_never", make.hardware("n1")))


def test_an_expired_token_is_refused() -> None:
    secret = make.token(people.admin(), "n1")
    with clock.frozen(clock.now() + timedelta(hours=24, seconds=1)), pytest.raises(EnrolmentTokenSpent) as refused:
        node_enrol(message=make.enrol_message(secret, make.hardware("n1")))
    assert refused.value.data["reason"] == "expired"
    with clock.frozen(clock.now() + timedelta(hours=23, minutes=59)):
        node_enrol(message=make.enrol_message(secret, make.hardware("n1")))


def test_a_revoked_token_is_refused_and_a_used_one_cannot_be_revoked() -> None:
    admin = people.admin()
    secret = make.token(admin, "n1")
    token = EnrolmentToken.objects.get()
    enrolment_token_revoke(actor=admin, token_id=token.pk)
    enrolment_token_revoke(actor=admin, token_id=token.pk)
    assert AuditEntry.objects.filter(action="node.enrolment_token_revoked").count() == 1
    with pytest.raises(EnrolmentTokenSpent) as refused:
        node_enrol(message=make.enrol_message(secret, make.hardware("n1")))
    assert refused.value.data["reason"] == "revoked"
    make.enrolled(admin, "n2")
    with pytest.raises(Conflict):
        enrolment_token_revoke(actor=admin, token_id=EnrolmentToken.objects.get(node_name="n2").pk)


def test_a_token_of_somebody_who_is_no_longer_an_admin_accepts_nothing() -> None:
    admin = people.admin()
    secret = make.token(admin, "n1")
    RoleGrant.objects.filter(person=admin).update(revoked_at=clock.now())
    with pytest.raises(EnrolmentTokenSpent) as refused:
        node_enrol(message=make.enrol_message(secret, make.hardware("n1")))
    assert refused.value.data["reason"] == "issuer"
    assert not Node.objects.exists()
    assert EnrolmentToken.objects.get().used_at is None


def test_another_protocol_leaves_the_token_unused() -> None:
    secret = make.token(people.admin(), "n1")
    message = msgspec.structs.replace(make.enrol_message(secret, make.hardware("n1")), protocol=99)
    with pytest.raises(ProtocolMismatch):
        node_enrol(message=message)
    assert EnrolmentToken.objects.get().used_at is None


def test_spot_nodes_never_become_capacity() -> None:
    node, _answer = make.enrolled(people.admin(), "burst", 8, source=Source.SPOT)
    assert not CapacityFact.objects.exists()
    assert capacity_at(clock.now())[GpuModel.objects.get().pk].capacity == 0
    assert node.devices.count() == 8


def test_enrolling_again_replaces_the_credentials_and_changes_no_capacity(client: Client) -> None:
    admin = people.admin()
    node, first = make.enrolled(admin, "n1", 8)
    again, second = make.enrolled(admin, "n1", 7)
    assert again.pk == node.pk
    assert second.token != first.token
    assert CapacityFact.objects.get().gpus == 8
    assert sorted(Device.objects.values_list("state", flat=True)) == ["lost"] + ["ok"] * 7

    factory = APIRequestFactory()
    authenticate = NodeAuthentication().authenticate
    request = factory.post("/agent/v1/sync", HTTP_AUTHORIZATION=f"Bearer {second.token}")
    assert authenticate(request) == (again, again)
    old = factory.post("/agent/v1/sync", HTTP_AUTHORIZATION=f"Bearer {first.token}")
    with pytest.raises(UnknownNode):
        authenticate(old)


def test_new_credentials_bring_back_no_capacity_that_was_taken_out() -> None:
    admin = people.admin()
    make.enrolled(admin, "n1", 8)
    CapacityFact.objects.all().delete()
    make.enrolled(admin, "n1", 8)
    assert not CapacityFact.objects.exists()


def test_a_removed_node_comes_back_with_new_capacity() -> None:
    admin = people.admin()
    node, _answer = make.enrolled(admin, "n1", 8)
    transition(node, "drain", actor=admin)
    transition(node, "remove", actor=admin)
    CapacityFact.objects.all().delete()
    node, _answer = make.enrolled(admin, "n1", 4)
    assert (node.state, CapacityFact.objects.get().gpus) == (NodeState.UP, 4)


def test_a_gpu_of_another_node_is_not_taken_over() -> None:
    admin = people.admin()
    make.enrolled(admin, "n1", 2)
    secret = make.token(admin, "n2")
    with pytest.raises(DeviceElsewhere) as refused:
        node_enrol(message=make.enrol_message(secret, make.hardware("n1", 2)))
    assert refused.value.data["uuids"] == ["GPU-n1-0", "GPU-n1-1"]
    assert not Node.objects.filter(name="n2").exists()
    assert EnrolmentToken.objects.get(node_name="n2").used_at is None


def test_a_mixed_node_gives_capacity_of_both_models() -> None:
    admin = people.admin()
    hw = make.hardware("n1", 0)
    cards = make.devices("n1", 3) + make.devices("n1b", 1, "Some Accelerator X1")
    node_enrol(message=make.enrol_message(make.token(admin, "n1"), msgspec.structs.replace(hw, devices=cards)))
    by_name = {row.name: capacity_at(clock.now())[row.pk].capacity for row in GpuModel.objects.all()}
    assert by_name == {"h100": 3, "some-accelerator-x1": 1}
    assert Node.objects.get().gpu_model == GpuModel.objects.get(name="h100")


@pytest.mark.parametrize(
    ("change", "place"),
    [
        ({"hardware": {"hostname": "n1", "cpus": "many"}}, "$.hardware.cpus"),
        ({"protocol": None}, "$.protocol"),
    ],
)
def test_a_wrong_type_is_refused_with_its_place(client: Client, change: dict[str, Any], place: str) -> None:
    message = msgspec.to_builtins(make.enrol_message("sle_x", make.hardware("n1"))) | change
    status, body = post(client, message)
    assert (status, list(body["errors"])) == (422, [place])


def test_what_is_not_json_is_refused(client: Client) -> None:
    response = client.post(ENROL, b"{", content_type="application/json")
    assert response.status_code == 422


def test_only_admins_issue_and_revoke() -> None:
    pool = make.pool()
    for someone in (people.person(), people.person("dir", Role.DIRECTOR), people.person("aud", Role.AUDITOR)):
        with pytest.raises(Forbidden):
            enrolment_token_issue(actor=someone, spec=EnrolmentSpec("n1", pool.pk))
        with pytest.raises(Forbidden):
            enrolment_token_revoke(actor=someone, token_id=1)


def test_a_token_that_makes_no_sense_is_refused_by_field() -> None:
    admin = people.admin()
    make.enrolled(admin, "n1")
    past = clock.now() - timedelta(seconds=1)
    with pytest.raises(Invalid) as refused:
        enrolment_token_issue(actor=admin, spec=EnrolmentSpec("bad name", 10**9, "moon", past))
    assert sorted(refused.value.errors) == ["expires_at", "node_name", "pool", "source"]
    other = make.pool("other")
    with pytest.raises(Invalid) as refused:
        enrolment_token_issue(actor=admin, spec=EnrolmentSpec("n1", other.pk, Source.SPOT))
    assert sorted(refused.value.errors) == ["pool", "source"]


@pytest.mark.django_db(transaction=True)
def test_of_two_redemptions_at_once_one_wins() -> None:
    secret = make.token(people.admin(), "n1")
    message = make.enrol_message(secret, make.hardware("n1", 2))
    barrier, results = threading.Barrier(2), []

    def redeem() -> None:
        barrier.wait(10)
        try:
            results.append(node_enrol(message=message).token)
        except EnrolmentTokenSpent as refused:
            results.append(refused.data["reason"])
        finally:
            connection.close()

    threads = [threading.Thread(target=redeem) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert len(results) == 2
    assert sum(result == "used" for result in results) == 1
    assert Node.objects.count() == 1
