"""Addresses of the composed pages. They have no namespace: every room links to them."""

from django.urls import re_path

from portal.pages import areas, cluster, deciding, design, form_drafts, home, lanes, registration, search
from portal.pages.approval import answering
from portal.pages.approval import pages as approval
from portal.pages.bulk import pages as bulk
from portal.pages.project import by_model, cost_page, jobs, overview, use
from portal.pages.request import export as request_export
from portal.pages.request import files as request_files
from portal.pages.request import form as request_form
from portal.pages.request import listing as request_listing
from portal.pages.request import page as request_page
from portal.pages.table import export, listing
from portal.pages.views import pages as views
from projects import urls as registry
from projects.urls import PROJECT, page

KEPT = r"^form-drafts/(?P<key>[0-9a-f-]{1,36})"
NODE = r"^cluster/nodes/(?P<node_id>[0-9]{1,18})"
REQUEST = r"^quota-requests/(?P<request_id>[0-9]{1,18})"
APPROVAL = r"^approvals/(?P<approval_id>[0-9]{1,18})"

urlpatterns = [
    re_path(r"^$", home.home, name="home"),
    page(PROJECT, overview.project, "project"),
    page(PROJECT + r"/use", use.use, "project-use"),
    page(PROJECT + r"/allotment", by_model.part, "project-allotment"),
    page(PROJECT + r"/jobs", jobs.jobs, "project-jobs"),
    page(PROJECT + r"/cost", cost_page.cost, "project-cost"),
    page(PROJECT + r"/cost/csv", cost_page.cost_csv, "project-cost-csv"),
    page(r"^cluster", cluster.cluster, "cluster"),
    page(NODE, cluster.node, "node"),
    page(NODE + r"/(?P<name>drain|undrain|maintain|remove|declare-lost)", cluster.node_act, "node-act"),
    page(APPROVAL, approval.show, "approval"),
    page(APPROVAL + r"/peek", approval.peek, "approval-peek"),
    page(APPROVAL + r"/vote", answering.vote, "approval-vote"),
    page(APPROVAL + r"/comment", approval.comment, "approval-comment"),
    page(APPROVAL + r"/less", answering.Less.as_view(), "approval-less"),
    page(APPROVAL + r"/refuse", answering.Refuse.as_view(), "approval-refuse"),
    page(APPROVAL + r"/hand-on", answering.HandOn.as_view(), "approval-hand-on"),
    page(APPROVAL + r"/withdraw", answering.Withdraw.as_view(), "approval-withdraw"),
    page(PROJECT + r"/request", request_form.Create.as_view(), "quota-request-new"),
    page(PROJECT + r"/request/consequence", request_form.consequence, "quota-request-consequence"),
    page(r"^quota-requests", request_listing.listing, "quota-requests"),
    page(r"^quota-requests/export/(?P<form>csv|xlsx)", request_export.export, "quota-requests-export"),
    page(REQUEST, request_page.show, "quota-request"),
    page(REQUEST + r"/edit", request_form.Edit.as_view(), "quota-request-edit"),
    page(REQUEST + r"/give-up", request_page.give_up, "quota-request-give-up"),
    page(REQUEST + r"/again", request_page.clone, "quota-request-again"),
    page(REQUEST + r"/files/(?P<file_id>[0-9]{1,18})", request_files.download, "quota-request-file"),
    page(r"^organisation", home.organisation, "organisation"),
    page(r"^lanes", lanes.lanes, "lanes"),
    page(r"^search", search.search, "search"),
    page(r"^design", design.design, "design"),
    page(KEPT, form_drafts.save, "form-draft"),
    page(KEPT + r"/discard", form_drafts.discard, "form-draft-discard"),
    page(r"^projects/consequence", registration.consequence, "registration-consequence"),
]

registry_patterns = (
    [
        page(r"^projects", listing.listing, "list"),
        page(r"^projects/areas", areas.areas, "areas"),
        page(r"^projects/export/(?P<form>csv|xlsx)", export.export, "export"),
        page(r"^projects/views", views.views, "views"),
        page(r"^projects/views/new", views.create, "view-new"),
        page(r"^projects/views/(?P<view_id>[0-9]{1,18})/(?P<name>" + views.ACTS + ")", views.act, "view-act"),
        page(r"^projects/bulk/(?P<field>stage|area)", bulk.change, "bulk"),
        page(r"^projects/bulk/(?P<change_id>[0-9]{1,18})/undo", bulk.undo, "bulk-undo"),
        page(PROJECT + r"/decide", deciding.decide, "decide"),
        *registry.urlpatterns,
    ],
    registry.app_name,
)
"""The registry's addresses with those of its table, which stands here because it shows what other rooms know."""
