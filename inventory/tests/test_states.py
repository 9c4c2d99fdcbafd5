"""Every pair of state and event of a node: the table's answer or a refusal that names both."""

from itertools import product

import pytest

from inventory.states import NODE, NodeState
from kernel.errors import IllegalTransition

EVENTS = sorted({event for _state, event in NODE.table})


@pytest.mark.parametrize(("state", "event"), list(product(NodeState, EVENTS)))
def test_a_pair_leads_where_the_table_says_or_nowhere(state: NodeState, event: str) -> None:
    if (state, event) in NODE.table:
        assert NODE.target(state, event) in NodeState
    else:
        with pytest.raises(IllegalTransition) as refused:
            NODE.target(state, event)
        assert (refused.value.data["state"], refused.value.data["event"]) == (state, event)


def test_every_state_can_be_left() -> None:
    assert all(NODE.events(state) for state in NodeState)
