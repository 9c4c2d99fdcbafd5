"""Words for what the audit log records. An act or a kind without an entry is shown by its own name, never hidden."""

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

_ACTIONS: dict[str, str | Promise] = {
    "announcement.edited": _("Edited announcement"),
    "announcement.published": _("Published announcement"),
    "announcement.withdrawn": _("Withdrew announcement"),
    "approval.approved": _("Approved request"),
    "approval.commented": _("Commented on request"),
    "approval.rejected": _("Refused request"),
    "approval.reopened": _("Opened decision again"),
    "approval.returned": _("Asked request back"),
    "approval.submitted": _("Submitted request"),
    "approval.voted": _("Voted on request"),
    "approval.withdrawn": _("Withdrew request"),
    "area.changed": _("Changed research area"),
    "area.created": _("Created research area"),
    "area.deleted": _("Deleted research area"),
    "capacity.changed": _("Changed capacity"),
    "capacity.removed": _("Took capacity away"),
    "delegation.created": _("Named stand-in"),
    "delegation.revoked": _("Ended stand-in"),
    "demo.seeded": _("Made the demo organisation"),
    "job.cancel": _("Cancelled job"),
    "job.pause": _("Paused job"),
    "job.requeue": _("Queued job again"),
    "jobs.switch": _("Switched whether waiting jobs are preemptible"),
    "scheduling.policy_set": _("Changed the scheduling policy"),
    "job.resume": _("Resumed job"),
    "job.submit": _("Submitted job"),
    "measurement.confirmed": _("Confirmed measurement"),
    "measurement.rejected": _("Rejected measurement"),
    "measurement.revoked": _("Revoked measurement"),
    "measurement.stated": _("Stated measurement"),
    "measurement.withdrawn": _("Withdrew measurement"),
    "node.declare_lost": _("Declared node lost"),
    "node.drain": _("Drained node"),
    "node.enrolled": _("Enrolled node"),
    "node.enrolment_token_issued": _("Issued enrolment token"),
    "node.enrolment_token_revoked": _("Revoked enrolment token"),
    "node.maintain": _("Took node out for maintenance"),
    "node.moved": _("Moved node"),
    "node.price_set": _("Set price"),
    "node.remove": _("Removed node"),
    "node.undrain": _("Took node into use"),
    "notification.retried": _("Sent notification again"),
    "person.created": _("Created person"),
    "person.deactivated": _("Deactivated person"),
    "person.identity_tied": _("Tied to single sign-on"),
    "person.language_chosen": _("Chose language"),
    "person.notifications_chosen": _("Chose how to hear"),
    "person.offboarded": _("Off-boarded person"),
    "person.password_changed": _("Changed password"),
    "person.reactivated": _("Reactivated person"),
    "policy.reviewed": _("Reviewed policy"),
    "policy.set": _("Changed policy"),
    "pool.changed": _("Changed pool"),
    "pool.closed": _("Ended access to pool"),
    "pool.created": _("Created pool"),
    "pool.dedicated": _("Dedicated pool"),
    "pool.opened": _("Gave access to pool"),
    "pool.released": _("Opened pool to all"),
    "project.approved": _("Approved project"),
    "project.closed": _("Closed project"),
    "project.created": _("Created project"),
    "project.edited": _("Edited project"),
    "project.member_added": _("Added member"),
    "project.member_removed": _("Removed member"),
    "project.member_role_changed": _("Changed member's role"),
    "project.rejected": _("Rejected project"),
    "project.resumed": _("Resumed project"),
    "project.returned": _("Returned project"),
    "project.submitted": _("Submitted project"),
    "project.suspended": _("Suspended project"),
    "project.tier_set": _("Set tier"),
    "project.withdrawn": _("Withdrew project"),
    "projects.import_undone": _("Undid import"),
    "projects.imported": _("Imported projects"),
    "quota.ended": _("Ended quota"),
    "quota.granted": _("Granted quota"),
    "quota.raised": _("Raised quota for a time"),
    "quota_request.approved": _("Approved quota request"),
    "quota_request.created": _("Drafted quota request"),
    "quota_request.edited": _("Edited quota request"),
    "quota_request.file_added": _("Attached a file to quota request"),
    "quota_request.file_removed": _("Removed a file from quota request"),
    "quota_request.rejected": _("Rejected quota request"),
    "quota_request.returned": _("Asked quota request back"),
    "quota_request.submitted": _("Submitted quota request"),
    "quota_request.withdrawn": _("Withdrew quota request"),
    "reserve.set": _("Set reserve"),
    "role.granted": _("Granted role"),
    "role.revoked": _("Revoked role"),
    "token.issued": _("Issued token"),
    "token.revoked": _("Revoked token"),
    "view.changed": _("Changed view"),
    "view.created": _("Created view"),
    "view.deleted": _("Deleted view"),
    "view.restored": _("Restored view"),
}

_KINDS: dict[str, str | Promise] = {
    "accounts.announcement": _("Announcement"),
    "accounts.person": _("Person"),
    "accounts.rolegrant": _("Role"),
    "accounts.servicetoken": _("Token"),
    "approvals.approval": _("Approval"),
    "approvals.delegation": _("Stand-in"),
    "approvals.policyversion": _("Policy"),
    "inventory.enrolmenttoken": _("Enrolment token"),
    "inventory.gpumodel": _("GPU model"),
    "inventory.node": _("Node"),
    "inventory.pool": _("Pool"),
    "portal.savedview": _("View"),
    "projects.project": _("Project"),
    "projects.projectimport": _("Import of projects"),
    "projects.researcharea": _("Research area"),
    "quotas.claim": _("Quota"),
    "quotas.quotarequest": _("Quota request"),
    "scheduling.job": _("Job"),
}


def action_words(action: str) -> str:
    """What was done."""
    return str(_ACTIONS.get(action) or action.replace(".", ": ").replace("_", " ").capitalize())


def kind_words(subject_type: str) -> str:
    """What kind of thing it was done to."""
    return str(_KINDS.get(subject_type) or subject_type)


def known_actions() -> list[tuple[str, str]]:
    """Every act with its words, by words: for a choice."""
    return sorted(((action, str(words)) for action, words in _ACTIONS.items()), key=lambda pair: pair[1])


def known_kinds() -> list[tuple[str, str]]:
    """Every kind of subject with its word, by word: for a choice."""
    return sorted(((kind, str(word)) for kind, word in _KINDS.items()), key=lambda pair: pair[1])
