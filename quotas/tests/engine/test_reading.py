"""Every fault of the input is named by its JSON path."""

import copy
import json
from typing import Any

import pytest

from kernel.documents import BadInput, digest, parse
from kernel.tests.changes import Change, drop, put
from quotas.engine.reading import read
from quotas.tests.engine.instances import ask, instance, model, project


def _good() -> dict[str, Any]:
    return instance(
        [project("a", models={"h100": ask(8, least=1)}), project("b", granularity=8, tier="low", pinned={"h100": 8})],
        [model(), model("a100")],
    )


_H100 = ("projects", 0, "models", "h100")

_FAULTS: list[tuple[Change, str, str]] = [
    (put("schema", to="instance/2"), "$.schema", '"instance/2" is not "instance/1"'),
    (drop("rules"), "$.rules", "missing"),
    (put("project", to=[]), "$.project", 'unknown; perhaps "projects" is meant'),
    (put("gpu_models", 0, "capcity", to=1), "$.gpu_models[0].capcity", "unknown"),
    (put("rules", "tier_oder", to="strict"), "$.rules.tier_oder", "unknown"),
    (put("rules", "score_weight", "slop", to=1), "$.rules.score_weight.slop", "unknown"),
    (put("projects", 0, "pined", to={"h100": 8}), "$.projects[0].pined", 'unknown; perhaps "pinned" is meant'),
    (put("projects", 0, "granularity", to=True), "$.projects[0].granularity", "true is not 1 or 8"),
    (put("projects", 0, "score", to=1e16), "$.projects[0].score", "1e+16 is not a number from -1e+15 to 1e+15"),
    (put(*_H100, "prevous", to=0), "$.projects[0].models.h100.prevous", 'unknown; perhaps "previous" is meant'),
    (put("rules", to=[]), "$.rules", "[] is not an object"),
    (put("gpu_models", to={}), "$.gpu_models", "{} is not a list"),
    (put("gpu_models", 0, to=7), "$.gpu_models[0]", "7 is not an object"),
    (put("gpu_models", 0, "name", to=""), "$.gpu_models[0].name", '"" is not a text'),
    (put("gpu_models", 1, "name", to="h100"), "$.gpu_models[1].name", '"h100" is there twice'),
    (put("gpu_models", 0, "capacity", to=-1), "$.gpu_models[0].capacity", "-1 is not a whole number"),
    (put("gpu_models", 0, "capacity", to=1.5), "$.gpu_models[0].capacity", "1.5 is not a whole number"),
    (put("gpu_models", 0, "capacity", to=True), "$.gpu_models[0].capacity", "true is not a whole number"),
    (put("gpu_models", 0, "capacity", to=10**400), "$.gpu_models[0].capacity", "is not a whole number"),
    (put("gpu_models", 0, "reserve", to=None), "$.gpu_models[0].reserve", "null is not a whole number"),
    (put("rules", "tier_order", to="random"), "$.rules.tier_order", '"random" is not "weighted" or "strict"'),
    (put("rules", "tier_weight", "mid", to=0), "$.rules.tier_weight.mid", "0.0 is not from 1e-06 to 1e+06"),
    (put("rules", "tier_weight", "mid", to=5e-324), "$.rules.tier_weight.mid", "5e-324 is not from 1e-06"),
    (put("projects", 0, "score", to=1e9), "$.projects[0].score", "gives a weight of 20000001.0, not from"),
    (put("rules", "tier_weight", "mid", to="2"), "$.rules.tier_weight.mid", '"2" is not a number'),
    (put("rules", "guarantee", "mid", to=1), "$.rules.guarantee.mid", "1 is not true or false"),
    (drop("rules", "guarantee", "mid"), "$.projects[0].tier", '"mid" is not in rules.guarantee'),
    (put("rules", "churn_tolerance", to=1.1), "$.rules.churn_tolerance", "1.1 is not from 0 to 1"),
    (drop("rules", "score_weight", "slope"), "$.rules.score_weight.slope", "missing"),
    (put("projects", 1, "id", to="a"), "$.projects[1].id", '"a" is there twice'),
    (put("projects", 0, "id", to="\ud800"), "$.projects[0].id", "is not a text"),
    (put("projects", 0, "id", to=5), "$.projects[0].id", "5 is not a text"),
    (put("projects", 0, "tier", to="top"), "$.projects[0].tier", '"top" is not in rules.tier_weight'),
    (put("projects", 0, "score", to=-60), "$.projects[0].score", "gives a weight of -0.1999"),
    (put("projects", 0, "granularity", to=4), "$.projects[0].granularity", "4 is not 1 or 8"),
    (put("projects", 1, "max_total", to=9), "$.projects[1].max_total", "9 is not a multiple of the granularity 8"),
    (put("projects", 0, "max_total", to=0), "$.projects[0].max_total", "0 is less than the sum of the floors"),
    (put(*_H100, "min", to=9), "$.projects[0].models.h100.min", "9 is above max, 8"),
    (put(*_H100, "suitability", to=-0.1), "$.projects[0].models.h100.suitability", "-0.1 is not from 0"),
    (put(*_H100, "suitability", to=0), "$.projects[0].models.h100.min", "a floor of 1 needs a suitability above 0"),
    (drop(*_H100, "previous"), "$.projects[0].models.h100.previous", "missing"),
    (put("projects", 0, "tier", to="low"), "$.projects[0].models.h100.min", "needs a tier with guarantee"),
    (put("projects", 0, "models", "b200", to=ask()), "$.projects[0].models.b200", "not among gpu_models"),
    (put("projects", 1, "pinned", "h100", to=4), "$.projects[1].pinned.h100", "4 is not a multiple"),
    (put("projects", 1, "pinned", "a100", to=8), "$.projects[1].pinned.a100", "not among the project's models"),
]


def test_what_is_good_is_taken() -> None:
    taken = read(_good())
    assert [row.id for row in taken.projects] == ["a", "b"]
    assert taken.projects[1].pinned == {"h100": 8}
    assert read(instance([project("a", max_total=8.0)])).projects[0].max_total == 8


@pytest.mark.parametrize(("change", "path", "text"), _FAULTS, ids=[f"{path} {text}" for _, path, text in _FAULTS])
def test_a_fault_is_named_by_its_path(change: Change, path: str, text: str) -> None:
    document = _good()
    change(document)
    with pytest.raises(BadInput) as refusal:
        read(document)
    assert any(fault.path == path and text in fault.text for fault in refusal.value.faults), str(refusal.value)


def test_all_faults_are_named_at_once() -> None:
    document = _good()
    document["gpu_models"][0]["capacity"] = "many"
    document["projects"][0]["score"] = None
    with pytest.raises(BadInput) as refusal:
        read(document)
    assert {fault.path for fault in refusal.value.faults} == {"$.gpu_models[0].capacity", "$.projects[0].score"}
    assert len(str(refusal.value).splitlines()) == 2


@pytest.mark.parametrize(
    ("change", "paths"),
    [
        (drop("rules", "score_weight"), ["$.rules.score_weight"]),
        (put("rules", "score_weight", to=[1]), ["$.rules.score_weight"]),
        (put("rules", "tier_weight", "mid", to=True), ["$.rules.tier_weight.mid"]),
        (put("rules", "score_weight", "base", to=None), ["$.rules.score_weight.base"]),
        (put("projects", 0, "granularity", to=-1), ["$.projects[0].granularity"]),
        (put(*_H100, to=8), ["$.projects[0].models.h100"]),
    ],
)
def test_one_fault_is_not_said_again_for_what_follows_from_it(change: Change, paths: list[str]) -> None:
    document = _good()
    change(document)
    with pytest.raises(BadInput) as refusal:
        read(document)
    assert [fault.path for fault in refusal.value.faults] == paths


@pytest.mark.parametrize("document", [None, [], "instance/1", 3])
def test_no_object_is_no_instance(document: Any) -> None:
    with pytest.raises(BadInput, match=r"\$: .* is not an object"):
        read(document)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "not JSON"),
        ('{"a": [{"b": 1, "b": 2}]}', r"\$\.a\[0\]\.b: this key is there twice"),
        ('{"a": [1, {"b": NaN}]}', r"\$\.a\[1\]\.b: NaN is not a number"),
        ('{"a": -Infinity, "a": {"b": NaN}}', r"^\$\.a: this key is there twice.*\n\$\.a\.b: NaN is not a number"),
        ("[" * 100_000, "not JSON"),
    ],
)
def test_text_that_is_no_json_is_refused(text: str, said: str) -> None:
    with pytest.raises(BadInput, match=said):
        parse(text)


def test_the_digest_is_of_the_content() -> None:
    document = _good()
    shuffled = json.loads(json.dumps(document, indent=4, sort_keys=True))
    other = copy.deepcopy(document)
    other["projects"][0]["score"] = 51
    assert digest(document) == digest(shuffled) == digest(parse(json.dumps(document)))
    assert digest(other) != digest(document)


def test_somebodys_notes_are_left_alone() -> None:
    document = _good()
    document["projects"][0]["title"] = "from the review of May"
    assert read(document) == read(_good())
