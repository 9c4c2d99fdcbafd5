"""One service per intention. Rooms above submit and withdraw in their own units; people vote, talk and delegate."""

from approvals.services.delegating import approval_hand_on, delegation_create, delegation_revoke
from approvals.services.leaving import votes_judge_again
from approvals.services.policy import policy_in_force, policy_review, policy_set
from approvals.services.submitting import (
    answer_faults,
    approval_submit,
    approval_withdraw,
    lock_with_open,
    open_approval_id,
    opened,
)
from approvals.services.sweeping import sweep
from approvals.services.talking import approval_comment
from approvals.services.voting import Ballot, Verdict, approval_vote, approvals_vote_many

__all__ = [
    "Ballot",
    "Verdict",
    "answer_faults",
    "approval_comment",
    "approval_hand_on",
    "approval_submit",
    "approval_vote",
    "approval_withdraw",
    "approvals_vote_many",
    "delegation_create",
    "delegation_revoke",
    "lock_with_open",
    "open_approval_id",
    "opened",
    "policy_in_force",
    "policy_review",
    "policy_set",
    "sweep",
    "votes_judge_again",
]
