"""A log arrives whole, once, in order: whatever is split, repeated, lost or restarted on the way."""

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kernel.errors import NotFound
from kernel.tests.examples import examples
from scheduling import selectors, services
from scheduling.models import LogChunk
from scheduling.tests import factories as make

pytestmark = pytest.mark.django_db


class Sender:
    """A node's side of one log: sends pieces, forgets what was acknowledged when it crashes."""

    def __init__(self, fake: make.FakeNode, member_id: int, data: bytes) -> None:
        self.fake, self.member_id, self.data = fake, member_id, data
        self.offset = 0

    def send(self, offset: int, size: int) -> None:
        piece = self.data[offset : offset + size]
        self.offset = services.log_append(node=self.fake.node, member_id=self.member_id, offset=offset, data=piece)

    def finish(self) -> None:
        while self.offset < len(self.data):
            self.send(self.offset, 64)


STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("go on"), st.integers(0, 40)),
        st.tuples(st.just("crash"), st.just(0)),
        st.tuples(st.just("jump"), st.integers(0, 200)),
        st.tuples(st.just("repeat"), st.integers(0, 40)),
    ),
    max_size=25,
)


@settings(max_examples=examples(25), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=STEPS, data=st.binary(min_size=60, max_size=200))
def test_the_stored_log_is_the_nodes_log(steps: list[tuple[str, int]], data: bytes, two_members: Any) -> None:
    (fake, first), (other, second), job = two_members()
    sender = Sender(fake, first, data)
    noise = Sender(other, second, b"from the other node\n")
    for step, amount in steps:
        before = sender.offset
        if step == "go on":
            sender.send(sender.offset, amount)
        elif step == "crash":
            sender.offset = 0
        elif step == "jump":
            sender.send(amount, 20)
        else:
            sender.send(max(0, sender.offset - amount), amount)
        assert sender.offset >= before or step == "crash"
        noise.send(noise.offset, 3)
    sender.finish()
    noise.finish()
    assert stored(first) == data
    assert stored(second) == noise.data
    whole = selectors.log_read(job).data
    assert len(whole) == len(data) + len(noise.data) == selectors.log_size(job)
    assert b"".join(selectors.log_read(job, at, 7).data for at in range(0, len(whole), 7)) == whole


def stored(member: int) -> bytes:
    """A member's own log, in its own order."""
    chunks = LogChunk.objects.filter(member=member).order_by("member_offset")
    return b"".join(bytes(chunk.data) for chunk in chunks)


@pytest.fixture
def two_members() -> Any:
    """A gang of two with empty logs, a new one for every example."""
    nodes = [make.node(gpus=8) for _ in range(2)]
    project = make.project(gpus=16, limit=None)
    by_node = {fake.node.pk: fake for fake in nodes}

    def make_one() -> Any:
        job = make.running_job(project, nodes, milli_gpus=2000, nodes_exact=2)
        members = make.members_of(job)
        services.job_cancel(actor=project.created_by, job_id=job.pk)
        for member in members:
            by_node[member.node_id].end(member.pk, "stopped", None)
            by_node[member.node_id].sync()
        return *((by_node[member.node_id], member.pk) for member in members), job.pk

    return make_one


def test_what_was_read_stays_where_it_was() -> None:
    fake = make.node()
    job = make.running_job(make.project(), [fake])
    [member] = make.members_of(job)
    assert selectors.log_read(job.pk) == selectors.LogPart(b"", 0)
    for offset, piece in enumerate(b"abcdef"):
        services.log_append(node=fake.node, member_id=member.pk, offset=offset, data=bytes([piece]))
        assert selectors.log_read(job.pk, 0, 3).data == b"abcdef"[: min(3, offset + 1)]
    assert selectors.log_read(job.pk, 4) == selectors.LogPart(b"ef", 6)
    assert selectors.log_read(job.pk, 6) == selectors.LogPart(b"", 6)
    assert selectors.log_read(job.pk, 99) == selectors.LogPart(b"", 99)


def test_a_piece_that_would_leave_a_gap_is_not_stored() -> None:
    fake = make.node()
    job = make.running_job(make.project(), [fake])
    [member] = make.members_of(job)
    for offset, data, expected in ((0, b"abc", 3), (5, b"fgh", 3), (4, b"efgh", 3), (2, b"cde", 5), (1, b"b", 5)):
        assert services.log_append(node=fake.node, member_id=member.pk, offset=offset, data=data) == expected
    assert selectors.log_read(job.pk).data == b"abcde"


def test_logs_outlive_their_member_and_are_of_its_node_alone() -> None:
    fake, other = make.node(), make.node()
    job = make.running_job(make.project(), [fake, other])
    [member] = make.members_of(job)
    stranger = other if member.node_id == fake.node.pk else fake
    with pytest.raises(NotFound):
        services.log_append(node=stranger.node, member_id=member.pk, offset=0, data=b"x")
