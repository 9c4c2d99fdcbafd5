"""One remark on several approvals."""

from collections.abc import Sequence

from accounts.models import Person
from approvals.policies import visible_to
from approvals.services.talking import approval_comment
from approvals.services.voting import Verdict
from kernel.errors import PortalError


def approvals_comment_many(*, actor: Person, approval_ids: Sequence[int], text: str) -> list[Verdict]:
    """The same public remark on each, in a unit of its own: one that is refused holds up no other."""
    verdicts = []
    titles = dict(visible_to(actor).filter(pk__in=approval_ids).values_list("pk", "title"))
    for pk in approval_ids:
        try:
            approval_comment(actor=actor, approval_id=pk, text=text)
        except PortalError as refusal:
            verdicts.append(Verdict(pk, titles.get(pk, ""), refusal.message))
        else:
            verdicts.append(Verdict(pk, titles.get(pk, "")))
    return verdicts
