"""An entry in one line: only what changed, in words, with a link where there is a page."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.conf import settings

from accounts.audit_lines import audit_lines, differences, value_words
from accounts.audit_words import action_words, known_actions
from accounts.models import RoleGrant
from accounts.tests.factories import person
from kernel import audit
from kernel.models import AuditEntry

ROOMS = ("accounts", "approvals", "inventory", "projects", "quotas", "scheduling", "portal")


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (None, "–"),
        ("", "–"),
        ([], "–"),
        (0, "0"),
        (True, "yes"),
        (False, "no"),
        (["a100", "h100"], "a100, h100"),
        ([None, True], "–, yes"),
        ({"h100": 4}, '{"h100": 4}'),
        ([{"node": "山"}], '[{"node": "山"}]'),
    ],
)
def test_values_are_words_and_never_python(value: object, words: str) -> None:
    assert value_words(value) == words


def test_only_what_changed_is_told() -> None:
    before = {"state": "draft", "area": None, "old": 1}
    rows = differences(before, {"state": "active", "area": None, "reason": "", "n": 2})
    assert [(row.name, row.before, row.after) for row in rows] == [
        ("state", "draft", "active"),
        ("n", "–", "2"),
        ("old", "1", "–"),
    ]
    assert differences(None, None) == ()


def _line(subject_type: str = "x.y", subject_id: str = "1", before: object = None, after: object = None) -> str:
    entry = AuditEntry(action="a.b", subject_type=subject_type, subject_id=subject_id, before=before, after=after)
    return audit_lines([entry])[0].summary


def test_a_summary_fits_a_line() -> None:
    after = {"content": "f" * 64, "reason": "late", "state": "active"}
    assert _line(before={"state": "draft"}, after=after).startswith("state draft → active, reason late, content ffff")
    assert len(_line(after={"reason": "y" * 200})) < 60
    assert _line(after=dict.fromkeys("abcde", 1)) == "a 1, b 1, c 1, 2 more"
    assert _line() == ""


@pytest.mark.django_db
def test_a_subject_has_its_name_and_its_page() -> None:
    ada = person("ada")
    told = [
        audit.record("person.created", actor=None, subject=ada),
        audit.record("role.granted", actor=None, subject=RoleGrant(pk=7)),
        AuditEntry(action="quota.ended", subject_type="quotas.claim", subject_id="3", after={"project": 9}),
        AuditEntry(action="x.y", subject_type="gone.kind", subject_id="a/b"),
        AuditEntry(action="person.created", subject_type="accounts.person", subject_id="999999"),
    ]
    assert [(line.subject, line.url) for line in audit_lines(told)] == [
        (ada.display_name, f"/people/{ada.pk}"),
        ("Role 7", ""),
        ("Quota 3", "/projects/9/quota"),
        ("gone.kind a/b", ""),
        ("Person 999999", "/people/999999"),
    ]


def _recorded() -> Iterator[str]:
    """The first argument of every call of ``audit.record``, ``record_many`` or a room's own that is written out."""
    for room in ROOMS:
        for path in (Path(settings.BASE_DIR) / room).rglob("*.py"):
            if "tests" in path.parts:
                continue
            for node in ast.walk(ast.parse(path.read_text())):
                if isinstance(node, ast.Call) and node.args and _name(node.func) in ("record", "record_many"):
                    first = node.args[0]
                    if isinstance(first, ast.Constant) and isinstance(first.value, str):
                        yield first.value


def _name(function: ast.expr) -> str:
    return ast.unparse(function).rpartition(".")[2].removeprefix("_")


def test_every_recorded_act_has_words() -> None:
    acts = set(_recorded())
    assert "quota.granted" in acts
    assert acts - dict(known_actions()).keys() == set()


def test_an_act_without_words_shows_its_own_name() -> None:
    assert action_words("widget.spun_round") == "Widget: spun round"
