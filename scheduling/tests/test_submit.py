"""Who submits what: rights, malformed wishes, the pre-launch check, copies, and the acts of a job's people."""

from dataclasses import replace
from typing import Any

import pytest
from django.utils.translation import override

from accounts.tests import factories as people
from inventory.models import GpuModel, Pool
from kernel.errors import Forbidden, Invalid, NotFound
from kernel.models import AuditEntry
from projects.models import Project
from scheduling import selectors, services
from scheduling.errors import LaunchBlocked
from scheduling.launch_check import CheckItem, launch_check
from scheduling.models import Job
from scheduling.services.jobs import spec_of
from scheduling.states import JobState
from scheduling.tests import factories as make

pytestmark = pytest.mark.django_db


@pytest.fixture
def project() -> Project:
    make.node()
    researcher = people.person("researcher")
    return make.project(people.person("lead"), researchers=(researcher,))


def checked(project: Project, **changes: Any) -> dict[str, CheckItem]:
    spec = make.spec(**changes)
    models = list(GpuModel.objects.filter(name__in=spec.gpu_models))
    return {item.code: item for item in launch_check(project, spec, models)}


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"name": " "}, "name"),
        ({"name": "x" * 201}, "name"),
        ({"name": "a\0b"}, "name"),
        ({"command": ("a\0b",)}, "command"),
        ({"command": ("x" * 100_001,)}, "command"),
        ({"milli_gpus": -1}, "gpus"),
        ({"milli_gpus": 0}, "gpus"),
        ({"milli_gpus": 9}, "gpus"),
        ({"milli_gpus": 1500}, "gpus"),
        ({"milli_gpus": 10**12}, "gpus"),
        ({"milli_gpus": 3000, "nodes_exact": 2}, "nodes_exact"),
        ({"milli_gpus": 500, "nodes_exact": 2}, "nodes_exact"),
        ({"milli_gpus": 0, "nodes_exact": 2}, "nodes_exact"),
        ({"nodes_exact": 0}, "nodes_exact"),
        ({"cpus": -1}, "cpus"),
        ({"memory_bytes": -1}, "memory_bytes"),
        ({"priority": 1001}, "priority"),
        ({"max_runtime_s": 0}, "max_runtime_s"),
        ({"grace_s": -1}, "grace_s"),
        ({"max_retries": 101}, "max_retries"),
        ({"checkpoint_interval_s": 0}, "checkpoint_interval_s"),
        ({"signal": "SIGKILL"}, "signal"),
        ({"env": {"1X": "a"}}, "env"),
        ({"env": {"X": "a\0"}}, "env"),
        ({"gpu_models": ("no-such",)}, "gpu_models"),
    ],
)
def test_what_is_malformed_names_its_field(project: Project, changes: dict[str, Any], field: str) -> None:
    with pytest.raises(Invalid) as refused:
        make.job(project, **changes)
    assert field in refused.value.errors
    assert not Job.objects.exists()


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"command": ()}, "command"),
        ({"command": ("",)}, "command"),
        ({"milli_gpus": 9000}, "gpus"),
        ({"datasets": ({"path": "data/x"},)}, "datasets"),
        ({"datasets": ({"path": "/data/../etc"},)}, "datasets"),
        ({"datasets": ({},)}, "datasets"),
    ],
)
def test_what_blocks_says_which_field_and_the_whole_check(project: Project, changes: Any, field: str) -> None:
    with pytest.raises(LaunchBlocked) as refused:
        make.job(project, **changes)
    assert list(refused.value.errors) == [field]
    assert {item["code"] for item in refused.value.data["launch_check"]} == set(checked(project))
    assert not Job.objects.exists()


def test_a_model_without_quota_blocks(project: Project) -> None:
    make.node(model=make.OTHER_MODEL)
    other = GpuModel.objects.order_by("pk").last()
    assert other is not None
    with pytest.raises(LaunchBlocked) as refused:
        make.job(project, gpu_models=(other.name,))
    assert "no quota" in refused.value.errors["gpus"][0]


def test_a_max_runtime_above_the_pools_bound_blocks(project: Project) -> None:
    Pool.objects.update(max_runtime_bound_s=3600)
    assert checked(project, max_runtime_s=3600)["max_runtime"].level == "pass"
    with pytest.raises(LaunchBlocked) as refused:
        make.job(project, max_runtime_s=3601)
    assert list(refused.value.errors) == ["max_runtime_s"]
    item = checked(project)["max_runtime"]
    assert (item.level, "after 3600 s" in item.text) == ("warning", True)
    make.job(project)  # none at all only warns


@pytest.mark.parametrize(
    ("changes", "code", "level"),
    [
        ({}, "log_level", "warning"),
        ({"env": {"LOG_LEVEL": "DEBUG"}}, "log_level", "warning"),
        ({"env": {"LOG_LEVEL": "INFO"}}, "log_level", "pass"),
        ({}, "checkpoint", "warning"),
        ({"checkpoint_dir": "/c"}, "checkpoint", "warning"),
        ({"checkpoint_dir": "/c", "checkpoint_interval_s": 3600}, "checkpoint", "warning"),
        ({"checkpoint_dir": "/c", "checkpoint_interval_s": 1800}, "checkpoint", "pass"),
        ({"checkpoint_dir": "c", "checkpoint_interval_s": 1800}, "checkpoint", "warning"),
        ({}, "max_runtime", "warning"),
        ({"max_runtime_s": 60}, "max_runtime", "pass"),
        ({}, "auto_retry", "warning"),
        ({"max_retries": 2}, "auto_retry", "pass"),
        ({}, "env", "pass"),
        ({"env": {"HF_TOKEN": "x"}}, "env", "warning"),
        ({"env": {"HF_TOKEN": ""}}, "env", "pass"),
        ({}, "data", "pass"),
        ({"datasets": ({"path": "/d"},)}, "data", "warning"),
        ({"datasets": ({"path": "/d", "version": "3"},)}, "data", "pass"),
        ({}, "quota", "pass"),
        ({"milli_gpus": 6000}, "quota", "warning"),
        ({"milli_gpus": 6000, "is_preemptible": True}, "quota", "pass"),
        ({}, "size", "pass"),
        ({"milli_gpus": 8000, "nodes_exact": 2}, "size", "warning"),
        ({}, "command", "pass"),
        ({}, "project", "pass"),
    ],
)
def test_every_point_has_its_level_and_a_sentence(project: Project, changes: Any, code: str, level: str) -> None:
    item = checked(project, **changes)[code]
    assert (item.level, item.text[-1]) == (level, ".")


def test_a_relative_checkpoint_folder_is_warned_of_with_its_reason(project: Project) -> None:
    text = checked(project, checkpoint_dir="out/ckpt", checkpoint_interval_s=60)["checkpoint"].text
    assert "deletes with the attempt" in text


@pytest.mark.parametrize(
    ("changes", "code", "text"),
    [
        ({"milli_gpus": 16000}, "size", "No node has 16 GPUs of a model that this job may use."),
        (
            {"milli_gpus": 32000, "nodes_exact": 2},
            "size",
            "The job asks for 2 nodes with 16 GPUs each; there is no such node.",
        ),
        (
            {"milli_gpus": 2000, "nodes_exact": 2},
            "size",
            "The job asks for 2 nodes with 1 GPU each; there is only 1 such node.",
        ),
        ({"max_retries": 1}, "auto_retry", "A failed run is tried again once."),
        ({"max_retries": 3}, "auto_retry", "A failed run is tried again up to 3 times."),
        (
            {"env": {"A_TOKEN": "x"}},
            "env",
            "A_TOKEN looks like a secret: the whole project can read the values of variables.",
        ),
        (
            {"env": {"A_TOKEN": "x", "B_TOKEN": "x"}},
            "env",
            "A_TOKEN, B_TOKEN look like secrets: the whole project can read the values of variables.",
        ),
    ],
)
def test_sentences_agree_with_their_numbers(project: Project, changes: Any, code: str, text: str) -> None:
    assert checked(project, **changes)[code].text == text


def test_warnings_are_kept_with_the_job(project: Project) -> None:
    job = make.job(project)
    assert {"code": "auto_retry", "level": "warning", "text": "Auto-retry is off: a failure ends the job."} in (
        job.launch_check
    )


def test_values_of_variables_are_not_in_the_audit_log(project: Project) -> None:
    job = make.job(project, env={"NAME": "canary-4711"})
    entry = AuditEntry.objects.get(action="job.submit")
    assert entry.after is not None
    assert (entry.subject_id, entry.after["env"]) == (str(job.pk), ["NAME"])
    assert "canary-4711" not in str(entry.after)


def test_models_may_be_named_by_id_too(project: Project) -> None:
    model = GpuModel.objects.get()
    for wanted in (model.name, str(model.pk)):
        assert [m.pk for m in make.job(project, gpu_models=(wanted,)).gpu_models.all()] == [model.pk]


def test_a_clone_asks_for_the_same_with_changes(project: Project) -> None:
    researcher = people_of(project)
    job = make.job(project, env={"A": "1"}, datasets=({"path": "/d", "version": "3"},), max_retries=2)
    copy = services.job_clone(actor=researcher, job_id=job.pk, changes={"name": "again", "milli_gpus": 2000})
    assert (copy.owner, copy.name, copy.milli_gpus) == (researcher, "again", 2000)
    assert spec_of(copy) == replace(spec_of(job), name="again", milli_gpus=2000)
    with pytest.raises(Invalid):
        services.job_clone(actor=researcher, job_id=job.pk, changes={"owner": 1})


def people_of(project: Project) -> Any:
    return next(m.person for m in project.memberships.all() if m.role == "researcher")


def test_strangers_find_nothing_and_readers_may_not_act(project: Project) -> None:
    job = make.job(project)
    stranger, researcher = people.person(), people_of(project)
    acts = (services.job_cancel, services.job_pause, services.job_resume, services.job_requeue, services.job_clone)
    for act in acts:
        with pytest.raises(NotFound):
            act(actor=stranger, job_id=job.pk)
        with pytest.raises(NotFound):
            act(actor=researcher, job_id=job.pk + 999)
        with pytest.raises(Forbidden):
            act(actor=people.auditor(), job_id=job.pk)
        if act is not services.job_clone:
            with pytest.raises(Forbidden):  # a member, but neither its owner nor the lead
                act(actor=researcher, job_id=job.pk)
    for reader, count in ((stranger, 0), (researcher, 1), (people.auditor(), 1), (people.director(), 1)):
        assert selectors.visible_to(reader).count() == count
    with pytest.raises(NotFound):
        selectors.job_detail(stranger, job.pk)
    with pytest.raises(Forbidden):
        make.job(project, owner=people.admin())


def test_lead_and_admin_may_stop_what_a_researcher_started(project: Project) -> None:
    researcher = people_of(project)
    first, second = make.job(project, owner=researcher), make.job(project, owner=researcher)
    services.job_cancel(actor=project.created_by, job_id=first.pk)
    services.job_cancel(actor=make.admin(), job_id=second.pk)
    assert set(Job.objects.values_list("state", flat=True)) == {JobState.CANCELLED}


def test_history_tells_who_did_what(project: Project) -> None:
    job = make.job(project)
    services.job_pause(actor=project.created_by, job_id=job.pk, reason="first the other one")
    services.job_resume(actor=project.created_by, job_id=job.pk)
    make.decide()
    job.refresh_from_db()
    events = selectors.job_events(job)
    assert [(e.subject, e.event, e.to_state) for e in events] == [
        ("job", "pause", "paused"),
        ("job", "resume", "queued"),
        ("job", "assign", "starting"),
    ]
    assert (events[0].actor_name, events[0].reason) == (str(project.created_by), "first the other one")
    assert selectors.job_detail(project.created_by, job.pk).possible == ["cancel", "pause"]


def test_the_launch_check_is_kept_in_english_whatever_its_owner_reads(project: Project) -> None:
    with override("zh-hans"):
        job = make.job(project)
        assert "There is a command to run." not in [item.text for item in checked(project).values()]
    assert "There is a command to run." in [item["text"] for item in job.launch_check]


def test_what_a_job_asks_of_its_gpus_and_nodes_is_kept_and_copied(project: Project) -> None:
    asked: dict[str, Any] = {
        "gpu_memory_bytes": 40 * make.GIB,
        "interconnect": "nvlink",
        "is_exclusive": True,
        "priority": 7,
    }
    job = make.job(project, **asked)
    copy = services.job_clone(actor=job.owner, job_id=job.pk)
    assert {name: getattr(copy, name) for name in asked} == asked


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"shares_device": True}, "shares_device"),
        ({"shares_device": True, "milli_gpus": 500, "is_exclusive": True}, "shares_device"),
        ({"gpu_memory_bytes": -1}, "gpu_memory_bytes"),
        ({"interconnect": "x" * 41}, "interconnect"),
    ],
)
def test_what_no_node_could_give_is_refused_by_field(project: Project, changes: dict[str, Any], field: str) -> None:
    with pytest.raises(Invalid) as refusal:
        make.job(project, **changes)
    assert set(refusal.value.errors) == {field}


def test_gpus_with_too_little_memory_are_warned_of(project: Project) -> None:
    assert checked(project, gpu_memory_bytes=500 * make.GIB)["size"].level == "warning"
    assert checked(project, interconnect="no-such")["size"].level == "warning"
