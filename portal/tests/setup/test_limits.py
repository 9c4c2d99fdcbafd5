"""The counter of the house's limits: it finds each excess, and an exception covers just what it says."""

from pathlib import Path

import pytest

from portal.setup.limits import Excess, Exemption, exemptions, forbidden_names, judge, measure
from portal.setup.places import ROOT

REASON = "a generated table, one line a row"


def tree(folder: Path, name: str, text: str) -> list[Excess]:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return list(measure(folder))


def lines(count: int, indent: str = "") -> str:
    return "".join(f"{indent}x = {number}\n" for number in range(count))


def test_what_is_within_the_limits_is_not_found(tmp_path: Path) -> None:
    text = f"def f(a, b, c, d, e, f):\n{lines(39, '    ')}{lines(360)}"
    assert tree(tmp_path, "room/file.py", text) == []
    assert tree(tmp_path, "templates/a.html", "<p>\n" * 100) == []


@pytest.mark.parametrize(
    ("name", "text", "excess"),
    [
        ("file.py", lines(401), Excess("file.py", "file-lines", 401)),
        ("templates/a.html", "<p>\n" * 101, Excess("templates/a.html", "template-lines", 101)),
        ("file.py", f"class A:\n  def f(self):\n{lines(40, '    ')}", Excess("file.py::A.f", "function-lines", 41)),
        ("file.py", f"async def f():\n{lines(40, '    ')}", Excess("file.py::f", "function-lines", 41)),
        ("file.py", "def f(a, b, c, d, *, e, f, g): ...\n", Excess("file.py::f", "arguments", 7)),
        ("tasks.py", f"@shared_task(name='x')\ndef f():\n{lines(15, ' ')}", Excess("tasks.py::f", "task-lines", 16)),
        ("tasks.py", f"@app.task\ndef f():\n{lines(15, ' ')}", Excess("tasks.py::f", "task-lines", 16)),
    ],
)
def test_each_excess_is_found(tmp_path: Path, name: str, text: str, excess: Excess) -> None:
    assert tree(tmp_path, name, text) == [excess]


def test_self_is_no_argument_and_inner_functions_count(tmp_path: Path) -> None:
    text = f"class A:\n def f(self, a, b, c, d, e, g):\n  def inner():\n{lines(40, '   ')}"
    found = {excess.where for excess in tree(tmp_path, "file.py", text)}
    assert found == {"file.py::A.f", "file.py::A.f.inner"}


def test_a_name_that_says_nothing_is_found(tmp_path: Path) -> None:
    (tmp_path / "utils.py").touch()
    (tmp_path / "prices.py").touch()
    assert [line.split(":")[0] for line in forbidden_names(tmp_path)] == ["utils.py"]


def test_an_exception_is_a_ceiling_for_one_place_and_one_limit() -> None:
    excess = Excess("a.py::f", "function-lines", 50)
    assert list(judge([excess], [Exemption("a.py::f", "function-lines", 50, REASON)])) == []
    assert len(list(judge([excess], [Exemption("a.py::f", "function-lines", 49, REASON)]))) == 1
    assert len(list(judge([excess], [Exemption("a.py::f", "arguments", 50, REASON)]))) == 2


def test_an_exception_that_is_not_needed_or_has_no_reason_is_a_finding() -> None:
    assert len(list(judge([], [Exemption("a.py::f", "function-lines", 50, REASON)]))) == 1
    excess = Excess("a.py::f", "function-lines", 50)
    assert len(list(judge([excess], [Exemption("a.py::f", "function-lines", 50, "")]))) == 1


def test_this_project_is_within_its_limits() -> None:
    assert list(judge(sorted(measure(ROOT)), exemptions())) == []
