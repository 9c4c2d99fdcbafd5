"""Pages of an import: upload, watch the check, read the report, apply, take back."""

from typing import Any

from django import forms
from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext
from django.views import View
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from accounts.models import Person
from accounts.policies import require_signed_in
from inventory.models import GpuModel
from kernel import clock
from kernel.calendar import local_day
from kernel.dialogs import ask
from kernel.downloads import attachment
from kernel.errors import Conflict, Invalid
from kernel.forms import add_errors
from kernel.spreadsheet import CSV, XLSX
from projects.imports import report, services
from projects.imports.columns import BY_KEY, COLUMNS
from projects.imports.limits import MOST_BYTES, MOST_ROWS
from projects.imports.selectors import import_of, imports_of, lines_of
from projects.imports.snapshot import editable_by
from projects.imports.writing import Cells, csv_file, template_columns, xlsx_file
from projects.models import ImportRow, ProjectImport, ResearchArea, RowKind
from projects.states import ImportState

PAGE_SIZE = 100
_KINDS = (RowKind.REFUSED, RowKind.NEW, RowKind.CHANGED, RowKind.UNCHANGED)
LATEST = 20
AT_WORK = (ImportState.UPLOADED, ImportState.CHECKING, ImportState.APPLYING, ImportState.UNDOING)
_DELIMITERS = {",": gettext_lazy("comma"), ";": gettext_lazy("semicolon"), "\t": gettext_lazy("tab")}


class UploadForm(forms.Form):
    file = forms.FileField(
        label=gettext_lazy("File"),
        allow_empty_file=True,
        widget=forms.ClearableFileInput(attrs={"accept": ".csv,.txt,.xlsx"}),
    )
    ignores_unknown = forms.BooleanField(
        label=gettext_lazy("Ignore columns that Sluice does not know"),
        required=False,
        help_text=gettext_lazy(
            "Otherwise a column of another name refuses the file, so that no typing error goes unseen."
        ),
    )


class Start(View):
    """Get a file, upload a file, and one's imports so far."""

    def get(self, request: HttpRequest) -> HttpResponse:
        return self._page(request, require_signed_in(request.user), UploadForm())

    def post(self, request: HttpRequest) -> HttpResponse:
        person = require_signed_in(request.user)
        form = UploadForm(request.POST, request.FILES)
        if form.is_valid():
            file = form.cleaned_data["file"]
            try:
                made = services.import_upload(
                    actor=person,
                    file_name=file.name,
                    content=file.read(MOST_BYTES + 1) if file.size <= MOST_BYTES else bytes(MOST_BYTES + 1),
                    ignores_unknown=form.cleaned_data["ignores_unknown"],
                )
            except Invalid as refusal:
                add_errors(form, refusal)
            except Conflict as refusal:
                form.add_error(None, refusal.message)
            else:
                return redirect("projects:import-report", made.pk)
        return self._page(request, person, form)

    def _page(self, request: HttpRequest, person: Person, form: UploadForm) -> HttpResponse:
        context = {
            "form": form,
            "imports": imports_of(person)[:LATEST],
            "columns": COLUMNS,
            "most_rows": MOST_ROWS,
            "most_mib": MOST_BYTES // 2**20,
        }
        return render(request, "projects/import.html", context, status=422 if form.errors else 200)


@require_GET
def template(request: HttpRequest, form: str) -> HttpResponse:
    """An empty file with every column."""
    require_signed_in(request.user)
    return _file([], form, "projects-template")


@require_GET
def editing(request: HttpRequest, form: str) -> HttpResponse:
    """Every project that this person may change now; imported as it is, it changes nothing."""
    person = require_signed_in(request.user)
    return _file([row.cells for row in editable_by(person)], form, f"projects-{local_day(clock.now()).isoformat()}")


@require_GET
def show(request: HttpRequest, import_id: int) -> HttpResponse:
    """The report; while the portal is at work the page asks for how far it is."""
    row = _own(request, import_id)
    is_at_work = row.state in AT_WORK
    if request.headers.get("HX-Request"):
        answer = render(request, "projects/_import_progress.html", {"row": row, "is_at_work": is_at_work})
        if not is_at_work:
            answer["HX-Refresh"] = "true"
        return answer
    kind = request.GET.get("kind", "")
    page = Paginator(lines_of(row, kind), PAGE_SIZE).get_page(request.GET.get("page"))
    context = {
        **_facts(row),
        "row": row,
        "is_at_work": is_at_work,
        "kinds": [("", _("All"), row.rows_total), *_kinds(row)],
        "kind": kind,
        "page": page,
        "lines": [(line, _what(line)) for line in page.object_list],
    }
    return render(request, "projects/import_report.html", context)


@require_GET
def download(request: HttpRequest, import_id: int) -> HttpResponse:
    """The whole report as CSV, refused rows first."""
    row = _own(request, import_id)
    return attachment(report.as_csv(lines_of(row, "")), CSV, f"import-{row.pk}-report.csv")


@require_POST
def check_again(request: HttpRequest, import_id: int) -> HttpResponse:
    person = require_signed_in(request.user)
    ignores = True if request.POST.get("ignores_unknown") else None
    services.import_check_again(actor=person, import_id=import_id, ignores_unknown=ignores)
    return redirect("projects:import-report", import_id)


@require_POST
def apply(request: HttpRequest, import_id: int) -> HttpResponse:
    person = require_signed_in(request.user)
    leaves_out = bool(request.POST.get("leaves_out_refused"))
    try:
        services.import_apply(actor=person, import_id=import_id, leaves_out_refused=leaves_out)
    except Conflict as refusal:
        messages.error(request, refusal.message)
    return redirect("projects:import-report", import_id)


@require_http_methods(["GET", "POST"])
def discard(request: HttpRequest, import_id: int) -> HttpResponse:
    """Asks once, then deletes the file."""
    row = _own(request, import_id)
    if request.method == "POST":
        services.import_discard(actor=require_signed_in(request.user), import_id=import_id)
        messages.success(request, _("%(file)s was discarded. Nothing of it was imported.") % {"file": row.file_name})
        return redirect("projects:import")
    asked = {
        "title": _("Discard %(file)s?") % {"file": row.file_name},
        "text": _("The file is deleted; nothing of it is imported. The report stays."),
        "label": _("Discard"),
    }
    return _confirm(request, row, "discard", asked)


@require_http_methods(["GET", "POST"])
def undo(request: HttpRequest, import_id: int) -> HttpResponse:
    """Asks once, then closes the drafts that came of the import."""
    row = _own(request, import_id)
    if request.method == "POST":
        services.import_undo(actor=require_signed_in(request.user), import_id=import_id)
        return redirect("projects:import-report", import_id)
    title = ngettext("Discard %(count)s imported project?", "Discard %(count)s imported projects?", row.new)
    asked = {
        "title": title % {"count": row.new},
        "text": _(
            "Drafts that nobody worked on since are closed for good. What somebody changed, submitted or shared stays."
        ),
        "affected": [_("Changes to %(count)s other projects stay.") % {"count": row.changed}] if row.changed else [],
        "label": _("Discard what was imported"),
    }
    return _confirm(request, row, "undo", asked)


def column_word(column: str) -> str:
    """A column by its label; those of GPU models have their key only."""
    return str(BY_KEY[column].label) if column in BY_KEY else column


def _own(request: HttpRequest, import_id: int) -> ProjectImport:
    return import_of(require_signed_in(request.user), import_id)


def _kinds(row: ProjectImport) -> list[tuple[str, str, int]]:
    return [(kind.value, str(kind.label), getattr(row, kind.value)) for kind in _KINDS]


def _facts(row: ProjectImport) -> dict[str, Any]:
    read_as = "XLSX"
    if row.encoding:
        delimiter = _DELIMITERS.get(row.delimiter, row.delimiter)
        read_as = _("CSV, %(encoding)s, %(delimiter)s") % {"encoding": row.encoding.upper(), "delimiter": delimiter}
    count = row.new + row.changed
    label = ngettext("Import %(count)s project", "Import %(count)s projects", count) % {"count": count}
    return {"read_as": read_as if row.rows_total else "", "count": count, "apply_label": label}


def _what(line: ImportRow) -> list[tuple[str, str, str]]:
    """Column, before or value, after or sentence."""
    if line.faults:
        # Most sentences name the value themselves.
        return [(column_word(column), "" if value in why else value, why) for column, value, why in line.faults]
    return report.changes_in_words(line)


def _file(rows: list[Cells], form: str, name: str) -> HttpResponse:
    columns = template_columns(GpuModel.objects.order_by("name").values_list("name", flat=True))
    if form == "csv":
        return attachment(csv_file(rows, columns), CSV, f"{name}.csv")
    return attachment(xlsx_file(rows, columns, list(ResearchArea.objects.order_by("name"))), XLSX, f"{name}.xlsx")


def _confirm(request: HttpRequest, row: ProjectImport, act: str, asked: dict[str, Any]) -> HttpResponse:
    context = {
        **asked,
        "danger": True,
        "action": reverse(f"projects:import-{act}", args=[row.pk]),
        "cancel_url": reverse("projects:import-report", args=[row.pk]),
    }
    return ask(request, context)
