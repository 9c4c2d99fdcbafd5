"""The documents against the code: what they name exists, and what exists is named."""

import re
from functools import cache
from pathlib import Path

import pytest
from django.apps import apps
from django.conf import settings
from django.core.management import get_commands

from portal.tests.api.document import operations

ROOT = Path(settings.BASE_DIR)
DOCS = ROOT / "docs"
ROOMS = ("kernel", "accounts", "approvals", "inventory", "projects", "quotas", "scheduling", "monitoring", "portal")
READ = re.compile(r"""["'](SLUICE_[A-Z0-9_]*[A-Z0-9])["']""")
NOT_READ = {
    "SLUICE_INSTANCE_MARK": "marks the supervisor's own processes, for itself",
    "SLUICE_PASSWORD": "hands a password to psql for one statement",
}
"""Nobody sets these: which process tells which other."""
PART_OF = {
    "RoleGrant": "role",
    "NotificationDelivery": "delivery",
    "NotificationPreference": "notification",
    "Offboarding": "off-boarding",
    "ServiceToken": "token",
    "ComputeRequest": "expected compute",
    "TierFact": "priority tier",
    "CapacityFact": "capacity",
    "ReserveFact": "reserve",
    "NodePrice": "price",
    "PoolAccess": "pool access",
    "ResearchArea": "research area",
    "ProjectImport": "import",
    "ImportRow": "import",
    "AttemptMember": "member",
    "DeviceAllocation": "allocation",
    "PastUse": "past use",
    "SchedulingPolicy": "scheduling policy",
    "JobLog": "log",
    "LogChunk": "log",
    "GpuSample": "sample",
    "GpuLatest": "sample",
    "HostLatest": "sample",
    "GpuModel": "GPU model",
    "EnrolmentToken": "enrolment token",
    "StateChange": "state",
    "AuditEntry": "audit log",
    "AuditSeal": "audit log",
    "OutboxEvent": "outbox",
    "OutboxDelivery": "outbox",
    "IdempotencyKey": "idempotency key",
    "SavedView": "saved view",
    "DefaultView": "saved view",
    "BulkChange": "bulk change",
    "FormDraft": "form draft",
    "PolicyVersion": "policy",
    "PolicyReview": "policy",
    "QuotaRequest": "quota request",
    "RequestAttachment": "quota request",
    "LimitCrossing": "limit crossing",
}
"""A class whose noun is explained under another word: which."""
NO_NOUN = {
    "ProjectUserObjectPermission": "django-guardian's table behind membership",
    "ProjectChange": "a line of a project's history",
}


def text(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def pages() -> list[Path]:
    return [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(DOCS.rglob("*.md"))]


# --- api.md


def test_api_md_names_every_call_and_no_other() -> None:
    named = set(re.findall(r"`(GET|POST|PUT|PATCH|DELETE) ([a-z{][a-z{}_/-]*/)`", text("docs/api.md")))
    built = {(row.method.upper(), row.path.removeprefix("/api/v1/")) for row in operations()}
    assert sorted(built - named) == []
    assert sorted(named - built) == []


def test_api_md_has_examples_that_name_their_token() -> None:
    calls = re.findall(r"curl [^\n]*", text("docs/api.md"))
    assert len(calls) >= 3
    assert all("Bearer $TOKEN" in call for call in calls)


# --- environment


@cache
def variables_read() -> set[str]:
    """Names of variables in the code that runs: settings, supervisor, agent, and what they import."""
    folders = [ROOT / name for name in ("agent", *ROOMS)]
    files = [path for folder in folders for path in folder.rglob("*.py") if "tests" not in path.parts]
    return {name for path in files for name in READ.findall(path.read_text(encoding="utf-8"))}


def variables_documented() -> set[str]:
    """Names in the documents; ``SLUICE_MAIL_HOST``, ``_PORT`` in one cell is ``SLUICE_MAIL_PORT`` too."""
    found: set[str] = set()
    for line in (text("docs/operations.md") + text("docs/agent.md")).splitlines():
        names = re.findall(r"SLUICE_[A-Z0-9_]*[A-Z0-9]", line)
        found |= set(names)
        found |= {f"{name}_FILE" for name in re.findall(r"(SLUICE_[A-Z0-9_]*[A-Z0-9])\(_FILE\)", line)}
        for start in names[:1]:
            ends = re.findall(r"`_([A-Z0-9_]+)(?:\(_FILE\))?`", line)
            found |= {f"{start.rsplit('_', 1)[0]}_{end}" for end in ends}
    return found


def test_every_variable_that_is_read_is_documented() -> None:
    assert sorted(variables_read() - variables_documented() - NOT_READ.keys()) == []


def test_every_documented_variable_is_read() -> None:
    compose = text("docker-compose.yml")
    read = (
        variables_read() | {f"{name}_FILE" for name in variables_read()} | set(re.findall(r"SLUICE_[A-Z_]+", compose))
    )
    assert sorted(variables_documented() - read) == []


def test_exceptions_are_needed() -> None:
    assert NOT_READ.keys() <= variables_read()
    assert not NOT_READ.keys() & variables_documented()


# --- links, commands, decisions, words


@pytest.mark.parametrize("page", pages(), ids=lambda page: str(page.relative_to(ROOT)))
def test_relative_links_lead_somewhere(page: Path) -> None:
    links = re.findall(r"\]\(([^)#\s]+)(#[^)]*)?\)", page.read_text(encoding="utf-8"))
    lost = [link for link, _part in links if "://" not in link and not (page.parent / link).exists()]
    assert lost == []


def test_every_document_is_reachable_from_the_readme() -> None:
    linked = {Path(link).name for link in re.findall(r"\]\(([^)#\s]+)", text("README.md"))}
    assert {page.name for page in DOCS.glob("*.md")} - linked == set()


def test_every_management_command_of_ours_is_documented() -> None:
    ours = {name for name, app in get_commands().items() if app in ROOMS}
    documents = "".join(page.read_text(encoding="utf-8") for page in pages())
    assert sorted(name for name in ours if not re.search(rf"\b{name}\b", documents)) == []


def test_the_index_lists_every_decision() -> None:
    files = {path.name for path in (DOCS / "decisions").glob("[0-9]*.md")}
    listed = re.findall(r"\]\((\d{4}-[a-z0-9-]+\.md)\)", text("docs/decisions/README.md"))
    assert sorted(listed) == sorted(files)
    assert len({name[:4] for name in files}) == len(files)


def entries() -> set[str]:
    return {word.casefold() for word in re.findall(r"^\*\*([^*]+)\*\*", text("docs/glossary.md"), flags=re.M)}


def test_every_class_of_model_has_its_noun_in_the_glossary() -> None:
    words, missing = entries(), []
    for model in apps.get_models():
        name = model.__name__
        if model._meta.app_label in ROOMS and name not in NO_NOUN:
            noun = PART_OF.get(name, name)
            if noun.casefold() not in words:
                missing.append(f"{name}: {noun}")
    assert sorted(missing) == []


def test_the_exceptions_are_models() -> None:
    models = {model.__name__ for model in apps.get_models() if model._meta.app_label in ROOMS}
    assert (PART_OF.keys() | NO_NOUN.keys()) <= models


def test_the_glossary_is_sorted() -> None:
    words = re.findall(r"^\*\*([^*]+)\*\*", text("docs/glossary.md"), flags=re.M)
    assert words == sorted(words, key=str.casefold)
