"""Pages of the ledger: what they show, whom they let act, and what they say when it is refused."""

from datetime import UTC, datetime, timedelta

import pytest
from django.test import Client, override_settings

from accounts.models import Person
from accounts.tests import factories as people
from inventory.models import Device, GpuModel, PoolKind
from kernel import clock
from kernel.calendar import organisation_zone
from kernel.forms import InstantField
from projects.models import Project
from projects.tests.factories import active_project
from quotas import services
from quotas.models import Claim
from quotas.selectors import promised_at
from quotas.tests import factories as make

pytestmark = pytest.mark.django_db
Ground = tuple[GpuModel, Project, Person]


@pytest.fixture
def ground() -> Ground:
    lead = people.person("lee")
    return make.capacity(8, reserve=1000)[0], active_project(lead=lead, name="Quiet oceans"), lead


def client(person: Person) -> Client:
    browser = Client()
    browser.force_login(person, backend=people.BACKEND)
    return browser


def test_the_page_shows_models_and_the_quotas_one_may_know_of(ground: Ground) -> None:
    model, project, lead = ground
    make.grant(project, model, 3, limit=5)
    for address in ("/quotas/", "/quotas"):
        page = client(lead).get(address)
        assert page.status_code == 200
        text = page.content.decode()
        assert "Quiet oceans" in text
        assert "3 promised, 4 free, 1 in reserve" in text
    stranger = client(people.person()).get("/quotas/").content.decode()
    assert "Quiet oceans" not in stranger
    assert "3 promised" in stranger
    assert "Grant a quota" not in stranger
    assert "Grant a quota" in client(make.granter()).get("/quotas/").content.decode()


def test_who_had_how_much_at_a_chosen_time(ground: Ground) -> None:
    model, project, lead = ground
    now = clock.now()
    make.grant(project, model, 3)
    make.grant(project, model, 5, effective_from=now + timedelta(days=2))
    later = (now + timedelta(days=3)).astimezone(organisation_zone()).strftime("%Y-%m-%dT%H:%M")
    text = client(lead).get("/quotas/", {"at": later}).content.decode()
    assert "5 promised, 2 free" in text
    assert client(lead).get("/quotas/", {"at": "soon"}).status_code == 422


def test_a_project_page_tells_who_granted_what_and_why_and_hides_from_strangers(ground: Ground) -> None:
    model, project, lead = ground
    make.grant(project, model, 3, reason="<script>first</script>")
    make.grant(project, model, 2, reason="less is enough")
    address = f"/projects/{project.pk}/quota/"
    text = client(lead).get(address).content.decode()
    assert "&lt;script&gt;first" in text
    assert "<script>first" not in text
    assert "less is enough" in text
    assert "Granter" in text
    assert client(people.person()).get(address).status_code == 404
    assert client(people.auditor()).get(address).status_code == 200
    assert f'<a class="tab" href="/projects/{project.pk}/quota" aria-current="page">Quota</a>' in text


def test_every_page_of_a_project_has_the_tab_of_its_quota(ground: Ground) -> None:
    _model, project, lead = ground
    for address in ("", "/members", "/history"):
        text = client(lead).get(f"/projects/{project.pk}{address}").content.decode()
        assert f'<a class="tab" href="/projects/{project.pk}/quota">Quota</a>' in text


def form_of(project: Project, model: GpuModel, guaranteed: int) -> dict[str, str | int]:
    return {
        "project": project.pk,
        "resource": "gpu",
        "gpu_model": model.pk,
        "guaranteed": guaranteed,
        "reason": "asked for",
    }


def test_an_admin_grants_and_is_told_what_is_refused(ground: Ground) -> None:
    model, project, lead = ground
    admin = client(make.granter())
    assert admin.get("/quotas/grant/", {"project": project.pk}).status_code == 200
    refused = admin.post("/quotas/grant/", form_of(project, model, 8))
    assert refused.status_code == 422
    assert "8 asked, 7 of 7 usable GPUs are free" in refused.content.decode()
    done = admin.post("/quotas/grant/", form_of(project, model, 4))
    assert (done.status_code, done["Location"]) == (302, f"/projects/{project.pk}/quota")
    assert promised_at(clock.now()) == {model.pk: 4}
    for someone in (lead, people.director(), people.auditor()):
        assert client(someone).get("/quotas/grant/").status_code == 403
        assert client(someone).post("/quotas/grant/", form_of(project, model, 1)).status_code == 403


def test_memory_is_typed_in_gib(ground: Ground) -> None:
    _model, project, _lead = ground
    body = {"project": project.pk, "resource": "memory", "guaranteed": 64, "limit": 128, "reason": "x"}
    assert client(make.granter()).post("/quotas/grant/", body).status_code == 302
    claim = Claim.objects.get()
    assert (claim.guaranteed, claim.limit) == (64 * 2**30, 128 * 2**30)


def test_the_consequence_stands_beside_the_form(ground: Ground) -> None:
    model, project, lead = ground
    make.grant(project, model, 3)
    make.grant(active_project(), model, 2)
    admin = client(make.granter())
    text = admin.get("/quotas/grant/preview/", form_of(project, model, 6)).content.decode()
    assert "5 of 7 free" in text
    assert "this will be refused" in text
    assert "3 guaranteed" in text
    assert "ends" in text
    assert "Choose project" in admin.get("/quotas/grant/preview/").content.decode()
    assert client(lead).get("/quotas/grant/preview/").status_code == 403


def test_ending_asks_once_and_names_what_ends(ground: Ground) -> None:
    model, project, lead = ground
    claim = make.grant(project, model, 3)
    address = f"/quotas/claims/{claim.pk}/end/"
    admin = client(make.granter())
    asked = admin.get(address).content.decode()
    assert "End this quota of Quiet oceans?" in asked
    assert "3 × H100 guaranteed, no limit" in asked
    assert admin.post(address, {"reason": "done"}).status_code == 302
    assert promised_at(clock.now()) == {model.pk: 0}
    assert admin.post(address, {"reason": "done"}).status_code == 409
    assert client(lead).post(address, {}).status_code == 403


def test_reserve_capacity_and_pools_are_changed_on_pages(ground: Ground) -> None:
    model, project, lead = ground
    make.grant(project, model, 4)
    node, admin = model.nodes.get(), client(make.granter())
    reserve, capacity = f"/quotas/reserve/{model.pk}/", f"/nodes/{node.pk}/capacity/"
    assert admin.get(reserve).status_code == admin.get(capacity).status_code == 200
    refused = admin.post(reserve, {"per_cent": "60", "reason": "x"})
    assert refused.status_code == 422
    assert "4 GPUs are promised, 3 would be usable" in refused.content.decode()
    assert admin.post(reserve, {"per_cent": "12.5", "reason": "x"}).status_code == 302
    body = {"gpu_model": model.pk, "gpus": 6, "reason": "two cards sold"}
    assert admin.post(capacity, body).status_code == 302
    assert admin.post(capacity, body | {"gpus": 3}).status_code == 422
    pool = services.pool_release(actor=make.granter(), pool_id=node.pool_id)
    assert admin.get(f"/pools/{pool.pk}/dedicate/").status_code == 200
    assert admin.post(f"/pools/{pool.pk}/dedicate/", {"reason": "x"}).status_code == 409

    services.project_claims_end(project_id=project.pk)
    services.reserve_set(actor=make.granter(), gpu_model_id=model.pk, basis_points=0)
    assert admin.post(f"/pools/{pool.pk}/dedicate/", {"reason": "x"}).status_code == 302
    pool.refresh_from_db()
    assert (pool.kind, promised_at(clock.now())[model.pk]) == (PoolKind.DEDICATED, 6)
    assert admin.post(f"/pools/{pool.pk}/share/", {"reason": "x"}).status_code == 302
    assert promised_at(clock.now())[model.pk] == 0
    move = f"/nodes/{node.pk}/pool/"
    assert admin.get(move).status_code == 200
    for address in (reserve, capacity, move, f"/pools/{pool.pk}/dedicate/", f"/pools/{pool.pk}/share/"):
        assert client(lead).get(address).status_code == 403


@override_settings(ORGANISATION_TIME_ZONE="Europe/Berlin")
def test_typed_times_are_the_organisations_and_skipped_ones_are_refused() -> None:
    field = InstantField()
    assert field.clean("2030-07-01T12:00") == datetime(2030, 7, 1, 10, tzinfo=UTC)
    assert field.clean("2030-01-01T12:00") == datetime(2030, 1, 1, 11, tzinfo=UTC)
    assert field.clean("2030-10-27T02:30") == datetime(2030, 10, 27, 0, 30, tzinfo=UTC)
    with pytest.raises(Exception, match="Clocks skip this time"):
        field.clean("2030-03-31T02:30")
    assert field.prepare_value(datetime(2030, 7, 1, 10, tzinfo=UTC)) == datetime(2030, 7, 1, 12)  # noqa: DTZ001


def test_a_model_that_no_real_device_backs_is_marked(ground: Ground) -> None:
    _model, _project, lead = ground
    assert 'class="simulated"' not in client(lead).get("/quotas/").content.decode()
    Device.objects.update(is_simulated=True)
    assert client(lead).get("/quotas/").content.decode().count('class="simulated"') == 1
    Device.objects.filter(index=0).update(is_simulated=False)
    assert 'class="simulated"' not in client(lead).get("/quotas/").content.decode()


def test_the_list_costs_the_same_for_one_quota_and_for_many(
    ground: Ground, django_assert_max_num_queries: object
) -> None:
    model, project, _lead = ground
    make.grant(project, model, 1)
    for _ in range(5):
        make.grant(active_project(), model, 1)
    browser = client(make.granter())
    browser.get("/quotas/")
    with django_assert_max_num_queries(15):  # type: ignore[operator]
        browser.get("/quotas/")
