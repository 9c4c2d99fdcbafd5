"""What a project measured counts once an admin confirmed it, and by the written rule."""

from decimal import Decimal
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from accounts.models import Person
from accounts.services import role_grant
from accounts.tests import factories as people
from inventory.models import GpuModel
from kernel.errors import Conflict, IllegalTransition, Invalid, NotFound
from kernel.models import AuditEntry, StateChange
from projects import selectors, services, suitability
from projects.errors import NotEditable, OwnProject
from projects.models import Measurement, Project
from projects.services import Stated
from projects.states import MEASUREMENT
from projects.suitability import measurements_to_judge, model_lines, suitability_of
from projects.tests import factories

pytestmark = pytest.mark.django_db

RATES = {"h100": "1", "a100": "0.45", "l4": "0.1", "odd": "0"}


@pytest.fixture(autouse=True)
def catalogue() -> dict[str, GpuModel]:
    for name, rate in RATES.items():
        model = factories.gpu_model(name)
        GpuModel.objects.filter(pk=model.pk).update(suitability=rate)
    return {model.name: model for model in GpuModel.objects.all()}


def state(project: Project, model: str, throughput: str | None, unit: str = "tokens/s", **more: str) -> Measurement:
    number = None if throughput is None else Decimal(throughput)
    stated = Stated(model, number, unit if number is not None else "", **{"evidence": "A run of an hour", **more})
    return services.measurement_state(actor=project.created_by, project_id=project.pk, stated=stated)


def confirm(row: Measurement) -> Measurement:
    return services.measurement_confirm(actor=factories.admin(), measurement_id=row.pk)


def values(project: Project) -> dict[str, tuple[str, str]]:
    lines = model_lines(project)
    return {line.gpu_model.name: (f"{line.now.value.normalize():f}", line.now.source) for line in lines}


# --- the rule


def test_without_a_measurement_the_catalogue_counts() -> None:
    project = factories.active_project()
    expected = {name: (f"{Decimal(rate).normalize():f}", "catalogue") for name, rate in RATES.items()}
    assert values(project) == expected


def test_a_proposal_changes_nothing_and_neither_does_one_confirmed_alone() -> None:
    project = factories.active_project()
    before = values(project)
    row = state(project, "a100", "700")
    assert values(project) == before
    confirm(row)
    assert values(project) == before
    assert [line.gpu_model.name for line in model_lines(project) if line.now.is_alone] == ["a100"]


def test_two_confirmed_count_by_their_ratio_from_the_fastest_of_them() -> None:
    project = factories.active_project()
    confirm(state(project, "h100", "1000"))
    confirm(state(project, "a100", "620"))
    found = values(project)
    assert (found["h100"], found["a100"]) == (("1", "measured"), ("0.62", "measured"))
    assert found["l4"] == ("0.1", "catalogue")


def test_the_reference_is_the_model_of_the_highest_default_not_of_the_highest_throughput() -> None:
    project = factories.active_project()
    confirm(state(project, "a100", "500"))
    confirm(state(project, "l4", "1000"))
    assert values(project)["l4"] == ("0.9", "measured")
    line = next(line for line in model_lines(project) if line.gpu_model.name == "l4")
    assert line.now.reference is not None
    assert line.now.reference.name == "a100"


def test_a_model_that_nobody_rated_is_rated_by_what_was_measured() -> None:
    project = factories.active_project()
    confirm(state(project, "odd", "300"))
    confirm(state(project, "h100", "1000"))
    assert values(project)["odd"] == ("0.3", "measured")


def test_a_model_that_cannot_be_used_is_0_and_no_reference() -> None:
    project = factories.active_project()
    confirm(state(project, "h100", None, evidence="Needs more than 80 GB"))
    confirm(state(project, "a100", "500"))
    assert (values(project)["h100"], values(project)["a100"]) == (("0", "excluded"), ("0.45", "catalogue"))


def test_a_tiny_throughput_is_not_rounded_to_cannot_use() -> None:
    project = factories.active_project()
    confirm(state(project, "h100", "1000000"))
    confirm(state(project, "l4", "1"))
    assert values(project)["l4"] == ("0.001", "measured")


def test_projects_do_not_mix_and_cost_two_statements_however_many() -> None:
    projects = [factories.active_project() for _ in range(4)]
    for project, throughput in zip(projects[:3], ("100", "200", "300"), strict=True):
        confirm(state(project, "h100", "1000"))
        confirm(state(project, "a100", throughput))
    model = GpuModel.objects.get(name="a100").pk
    with CaptureQueriesContext(connection) as captured:
        found = suitability_of([project.pk for project in projects])
    assert [f"{found[project.pk, model].value.normalize():f}" for project in projects] == ["0.1", "0.2", "0.3", "0.45"]
    assert len(captured) == 2
    assert len(found) == len(projects) * len(RATES)


# --- stating


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"gpu_model": "h1000"}, "gpu_model"),
        ({"gpu_model": "9" * 30}, "gpu_model"),
        ({"throughput": Decimal(0)}, "throughput"),
        ({"throughput": Decimal(-1)}, "throughput"),
        ({"throughput": Decimal("NaN")}, "throughput"),
        ({"throughput": Decimal("1e13")}, "throughput"),
        ({"throughput": Decimal("0.0000001")}, "throughput"),
        ({"unit": " "}, "unit"),
        ({"unit": "x" * 41}, "unit"),
        ({"evidence": " "}, "evidence"),
        ({"evidence": "x" * 2001}, "evidence"),
        ({"job": "x" * 61}, "job"),
    ],
)
def test_what_cannot_be_taken_is_named_by_field(changes: dict[str, Any], field: str) -> None:
    project = factories.active_project()
    given: dict[str, Any] = {"gpu_model": "h100", "throughput": Decimal(5), "unit": "tokens/s", "evidence": "Run"}
    with pytest.raises(Invalid) as refusal:
        services.measurement_state(
            actor=project.created_by, project_id=project.pk, stated=Stated(**{**given, **changes})
        )
    assert list(refusal.value.errors) == [field]
    assert not Measurement.objects.exists()


def test_all_models_of_a_project_are_in_one_unit() -> None:
    project = factories.active_project()
    confirm(state(project, "h100", "1000"))
    with pytest.raises(Invalid) as refusal:
        state(project, "a100", "5", "samples/s")
    assert "tokens/s" in refusal.value.errors["unit"][0]
    # The model itself may change its unit: what is confirmed for it is what the new one would replace.
    state(project, "h100", "9", "samples/s")
    other = state(project, "a100", "5", "samples/s")
    with pytest.raises(Conflict):
        confirm(other)
    confirm(Measurement.objects.get(gpu_model__name="h100", state="proposed"))
    confirm(other)
    assert values(project)["a100"] == ("0.556", "measured")


def test_a_new_statement_supersedes_what_waits_but_not_what_counts() -> None:
    project = factories.active_project()
    first = confirm(state(project, "h100", "1"))
    second, third = state(project, "h100", "2"), state(project, "h100", "3")
    states = dict(Measurement.objects.values_list("pk", "state"))
    assert states == {first.pk: "confirmed", second.pk: "superseded", third.pk: "proposed"}
    confirm(third)
    states = dict(Measurement.objects.values_list("pk", "state"))
    assert states == {first.pk: "superseded", second.pk: "superseded", third.pk: "confirmed"}


@pytest.mark.parametrize("make", [factories.rejected_project, factories.closed_project])
def test_nothing_is_stated_or_judged_at_the_end(make: Any) -> None:
    project = make()
    with pytest.raises(NotEditable):
        state(project, "h100", "1")


# --- judging


def test_nobody_confirms_for_a_project_of_their_own_past_or_present() -> None:
    lead = people.person()
    project = factories.active_project(lead=lead)
    row = state(project, "h100", "1")
    services.member_add(actor=lead, project_id=project.pk, person=people.person("heir").username, role="lead")
    services.member_remove(actor=lead, project_id=project.pk, person_id=lead.pk)
    for name in (lead.username, "heir"):
        role_grant(actor=None, person_id=Person.objects.get(username=name).pk, role="admin")
        for act in (services.measurement_confirm, services.measurement_reject):
            with pytest.raises(OwnProject):
                act(actor=Person.objects.get(username=name), measurement_id=row.pk, reason="Mine")
        assert not measurements_to_judge(Person.objects.get(username=name)).exists()
    assert list(measurements_to_judge(factories.admin())) == [row]


def test_each_state_allows_what_its_table_says() -> None:
    admin = factories.admin()
    acts: dict[str, Any] = {
        "confirm": lambda row: services.measurement_confirm(actor=admin, measurement_id=row.pk),
        "reject": lambda row: services.measurement_reject(actor=admin, measurement_id=row.pk, reason="So"),
        "revoke": lambda row: services.measurement_revoke(actor=admin, measurement_id=row.pk, reason="So"),
        "withdraw": lambda row: services.measurement_withdraw(actor=row.stated_by, measurement_id=row.pk),
        "supersede": lambda row: state(row.project, "h100", "2"),
    }
    ways: dict[str, tuple[str, ...]] = {
        "proposed": (),
        "confirmed": ("confirm",),
        "rejected": ("reject",),
        "withdrawn": ("withdraw",),
        "superseded": ("supersede",),
        "revoked": ("confirm", "revoke"),
    }
    for source, way in ways.items():
        for event in ("confirm", "reject", "revoke", "withdraw"):
            project = factories.active_project()
            row = state(project, "h100", "1")
            for step in way:
                acts[step](row)
            row = Measurement.objects.get(pk=row.pk)
            assert row.state == source
            if (source, event) in MEASUREMENT.table:
                acts[event](row)
                row.refresh_from_db()
                assert row.state == MEASUREMENT.table[source, event]
            else:
                with pytest.raises(IllegalTransition):
                    acts[event](row)
                row.refresh_from_db()
                assert row.state == source


@pytest.mark.parametrize("event", ["reject", "revoke"])
def test_a_reason_is_needed(event: str) -> None:
    row = state(factories.active_project(), "h100", "1")
    if event == "revoke":
        confirm(row)
    act: Any = {"reject": services.measurement_reject, "revoke": services.measurement_revoke}[event]
    with pytest.raises(Invalid):
        act(actor=factories.admin(), measurement_id=row.pk, reason=" ")


def test_who_stated_and_decided_is_kept_in_row_history_and_audit() -> None:
    project = factories.active_project()
    row = state(project, "h100", "1200.5", job="j-17")
    services.measurement_reject(actor=factories.admin(), measurement_id=row.pk, reason="Which batch size?")
    row.refresh_from_db()
    assert (row.decided_by, row.decision_reason, row.job) == (factories.admin(), "Which batch size?", "j-17")
    assert StateChange.objects.filter(machine="measurement", event="reject", subject_id=str(row.pk)).count() == 1
    told = [(item.before, item.after) for item in selectors.history(project) if item.what == "measurement"]
    assert [after["state"] for _before, after in told] == ["proposed", "rejected"]
    assert told[0][1]["throughput"] == "1200.5"
    latest = AuditEntry.objects.filter(action="measurement.rejected").latest("id")
    assert latest.after is not None
    assert latest.after["reason"] == "Which batch size?"


def test_what_is_asked_before_confirming_names_what_changes() -> None:
    project = factories.active_project()
    confirm(state(project, "h100", "1000"))
    row = state(project, "a100", "500")
    ((model, before, after),) = suitability.difference(row, "confirm")
    assert (model.name, f"{before:.3f}", f"{after:.3f}") == ("a100", "0.450", "0.500")
    assert suitability.difference(row, "reject") == []


def test_a_measurement_that_is_not_there_is_not_found() -> None:
    with pytest.raises(NotFound):
        services.measurement_confirm(actor=factories.admin(), measurement_id=999_999)
