"""Comments: for everybody who may see the approval, or private to those who decide."""

from django.utils.translation import gettext as _

from accounts.models import Person
from accounts.policies import require_signed_in
from approvals import telling
from approvals.models import Comment
from approvals.policies import may_comment, reads_private_notes, visible_to
from approvals.services.voting import MOST_COMMENT
from kernel import audit, clock
from kernel.errors import Forbidden, Invalid, NotFound
from kernel.unit import unit_of_work


def approval_comment(*, actor: Person | None, approval_id: int, text: str, is_private: bool = False) -> Comment:
    """Say something about an approval, decided ones too. Raises ``NotFound``, ``Forbidden``, ``Invalid``."""
    someone = require_signed_in(actor)
    with unit_of_work():
        approval = visible_to(someone).select_related("requester").filter(pk=approval_id).first()
        if approval is None:
            raise NotFound
        if not may_comment(someone, approval):
            raise Forbidden(_("Auditors read and change nothing."))
        if is_private and not reads_private_notes(someone, approval):
            raise Forbidden(_("Private notes are for those who decide."))
        tidy = text.strip()
        if not 1 <= len(tidy) <= MOST_COMMENT:
            words = _("%(count)s characters; 1 to %(most)s are allowed.")
            raise Invalid({"text": words % {"count": len(tidy), "most": MOST_COMMENT}})
        comment = Comment.objects.create(
            approval=approval, author=someone, text=tidy, is_private=is_private, at=clock.now()
        )
        after = {"comment": comment.pk, "is_private": is_private}
        audit.record("approval.commented", actor=someone, subject=approval, after=after)
        telling.tell_comment(comment, _listeners(comment))
    return comment


def _listeners(comment: Comment) -> set[int]:
    """Who asked, who voted and who commented before, as far as they may still know of it; of a private note only those
    who may read it."""
    approval = comment.approval
    took_part = {approval.requester_id, *approval.votes.values_list("person_id", flat=True)}
    took_part |= set(approval.comments.values_list("author_id", flat=True))
    people = Person.objects.filter(pk__in=took_part, is_active=True)
    here = [person for person in people if visible_to(person).filter(pk=approval.pk).exists()]
    if comment.is_private:
        here = [person for person in here if reads_private_notes(person, approval)]
    return {person.pk for person in here}
