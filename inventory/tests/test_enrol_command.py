"""``manage.py enrol_node``: one token, printed or written where only its owner can read it."""

from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from accounts.tests import factories as people
from inventory.errors import EnrolmentTokenSpent
from inventory.models import EnrolmentToken, Node
from inventory.services import node_enrol
from inventory.tests import factories as make

pytestmark = pytest.mark.django_db


def run(*arguments: str) -> str:
    out = StringIO()
    call_command("enrol_node", *arguments, stdout=out)
    return out.getvalue()


def test_it_prints_a_token_and_nothing_else_and_makes_the_pool() -> None:
    admin = people.admin()
    secret = run("n1", "--pool", "shared", "--create-pool").strip()
    node_enrol(message=make.enrol_message(secret, make.hardware("n1", 2)))
    node = Node.objects.get()
    assert (node.pool.name, node.accepted_by) == ("shared", admin)


def test_a_file_is_private_and_whole(tmp_path: Path) -> None:
    people.admin()
    make.pool()
    path = tmp_path / "token"
    path.write_text("old")
    assert run("n1", "--pool", "shared", "--token-file", str(path), "--source", "rented", "--days", "2") == ""
    assert path.read_text().startswith("sle_")
    assert path.stat().st_mode & 0o777 == 0o600
    assert [entry.name for entry in tmp_path.iterdir()] == ["token"]
    assert EnrolmentToken.objects.get().source == "rented"


def test_a_replaced_token_is_dead_and_the_new_one_takes_the_node_over() -> None:
    people.admin()
    make.pool()
    used = run("n1", "--pool", "shared").strip()
    node_enrol(message=make.enrol_message(used, make.hardware("n1", 2)))
    forgotten = run("n1", "--pool", "shared").strip()
    other = run("n2", "--pool", "shared").strip()
    fresh = run("n1", "--pool", "shared", "--replace").strip()
    with pytest.raises(EnrolmentTokenSpent) as refused:
        node_enrol(message=make.enrol_message(forgotten, make.hardware("n1", 2)))
    assert refused.value.data["reason"] == "revoked"
    node_enrol(message=make.enrol_message(fresh, make.hardware("n1", 2)))
    node_enrol(message=make.enrol_message(other, make.hardware("n2", 2)))
    assert list(Node.objects.order_by("name").values_list("name", flat=True)) == ["n1", "n2"]


@pytest.mark.parametrize(
    "arguments",
    [
        ("n1", "--pool", "none"),
        ("n 1", "--pool", "shared"),
        ("n1", "--pool", "shared", "--days", "99"),
        ("n1", "--pool", "shared", "--actor", "nobody"),
        ("n1", "--pool", "shared", "--actor", "eve"),
    ],
)
def test_it_says_what_is_wrong(arguments: tuple[str, ...]) -> None:
    people.admin()
    people.person("eve")
    make.pool()
    with pytest.raises(CommandError):
        run(*arguments)
    assert not EnrolmentToken.objects.exists()


def test_without_an_admin_there_is_nobody_to_accept_a_node() -> None:
    make.pool()
    with pytest.raises(CommandError, match="admin"):
        run("n1", "--pool", "shared")
