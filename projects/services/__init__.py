"""One service per intention: each holds lock, permission, change, history, audit and event in one transaction."""

from projects.services.areas import area_create, area_delete, area_edit
from projects.services.course import project_close, project_resume, project_suspend
from projects.services.decisions import project_decide, project_submit, project_withdraw
from projects.services.drafts import not_editable, project_create, project_edit
from projects.services.many import EditAsked, judge_edits, projects_edit_many
from projects.services.measurements import (
    Stated,
    measurement_confirm,
    measurement_reject,
    measurement_revoke,
    measurement_state,
    measurement_withdraw,
)
from projects.services.members import member_add, member_change_role, member_remove
from projects.services.milestones import milestone_meet, milestone_move, milestone_reopen
from projects.services.registrations import Sending, registration_create, registration_edit, sent_before
from projects.services.tiers import tier_set

__all__ = [
    "EditAsked",
    "Sending",
    "Stated",
    "area_create",
    "area_delete",
    "area_edit",
    "judge_edits",
    "measurement_confirm",
    "measurement_reject",
    "measurement_revoke",
    "measurement_state",
    "measurement_withdraw",
    "member_add",
    "member_change_role",
    "member_remove",
    "milestone_meet",
    "milestone_move",
    "milestone_reopen",
    "not_editable",
    "project_close",
    "project_create",
    "project_decide",
    "project_edit",
    "project_resume",
    "project_submit",
    "project_suspend",
    "project_withdraw",
    "projects_edit_many",
    "registration_create",
    "registration_edit",
    "sent_before",
    "tier_set",
]
