"""docker-compose.yml and Dockerfile against the code: they cannot drift from what they start."""

import ast
import importlib
import os
import re
import shlex
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml
from django.conf import settings
from django.core.management import get_commands

from portal.setup.places import ROOT

LONG_RUNNING = {"postgres", "redis", "web", "worker-solver", "worker-dispatch", "beat", "proxy"}
OURS = ["migrate", "web", "worker-solver", "worker-dispatch", "beat"]
SECRETS_FOLDER = "/run/secrets/"


@cache
def compose() -> dict[str, Any]:
    loaded: dict[str, Any] = yaml.safe_load((ROOT / "docker-compose.yml").read_text())
    return loaded


def service(name: str) -> dict[str, Any]:
    found: dict[str, Any] = compose()["services"][name]
    return found


def environment(name: str) -> dict[str, str]:
    """The service's variables as Compose would hand them over, with a host name given by the operator."""
    given = {"SLUICE_HOST": "sluice.example.org"}

    def fill(match: re.Match[str]) -> str:
        variable, _, default = match.group(1).partition(":")
        return given.get(variable) or default.removeprefix("-")

    return {key: re.sub(r"\$\{([^}]+)\}", fill, value) for key, value in service(name)["environment"].items()}


@cache
def variables_read_by_settings() -> frozenset[str]:
    """Every name that the settings ask the environment for."""
    found: set[str] = set()
    for path in (ROOT / "portal" / "settings").glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call):
                names = [argument.value for argument in node.args[:1] if isinstance(argument, ast.Constant)]
                found.update(name for name in names if isinstance(name, str) and name.startswith("SLUICE_"))
    return frozenset(found)


def import_production(variables: dict[str, str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", "import portal.settings.production"],
        cwd=ROOT,
        env={"PATH": os.environ["PATH"], **variables},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


def with_secrets(variables: dict[str, str], folder: Path) -> dict[str, str]:
    """The same variables with the secrets' files in a folder of the test."""
    changed = dict(variables)
    for key, value in variables.items():
        if key.endswith("_FILE"):
            target = folder / Path(value).name
            target.write_text(f"value-of-{target.name}\n")
            changed[key] = str(target)
    return changed


def test_the_services_are_the_ones_that_operations_describes() -> None:
    assert set(compose()["services"]) == LONG_RUNNING | {"migrate"}


@pytest.mark.parametrize("name", OURS)
def test_every_variable_that_is_set_is_read(name: str) -> None:
    read = variables_read_by_settings()
    for variable in environment(name):
        if variable != "DJANGO_SETTINGS_MODULE":
            assert variable.removesuffix("_FILE") in read, f"{name} sets {variable}, which nothing reads"


@pytest.mark.parametrize("name", OURS)
def test_every_variable_that_is_required_is_set(name: str, tmp_path: Path) -> None:
    assert environment(name)["DJANGO_SETTINGS_MODULE"] == "portal.settings.production"
    done = import_production(with_secrets(environment(name), tmp_path))
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    "variable",
    [
        "SLUICE_SECRET_KEY_FILE",
        "SLUICE_DATABASE_URL",
        "SLUICE_BROKER_URL",
        "SLUICE_CACHE_URL",
        "SLUICE_BASE_URL",
        "SLUICE_ALLOWED_HOSTS",
    ],
)
def test_production_starts_with_no_default_for_what_matters(variable: str, tmp_path: Path) -> None:
    variables = with_secrets(environment("web"), tmp_path)
    del variables[variable]
    done = import_production(variables)
    assert done.returncode != 0
    assert variable.removesuffix("_FILE") in done.stderr


@pytest.mark.parametrize("name", sorted(LONG_RUNNING | {"migrate"}))
def test_secrets_come_from_files_that_the_service_has(name: str) -> None:
    granted = set(service(name).get("secrets", []))
    assert granted <= set(compose()["secrets"])
    used = set()
    for variable, value in service(name).get("environment", {}).items():
        if re.search(r"PASSWORD|SECRET|TOKEN|_KEY", variable):
            assert variable.endswith("_FILE"), f"{name} has {variable} in its environment"
            assert value.startswith(SECRETS_FOLDER)
            used.add(value.removeprefix(SECRETS_FOLDER))
        assert not re.search(r"//[^/@]*:[^/@]+@", value), f"{variable} holds a password"
    assert used <= granted


def test_every_secret_is_a_file_outside_the_repository() -> None:
    ignored = (ROOT / ".gitignore").read_text().split()
    for secret in compose()["secrets"].values():
        assert Path(secret["file"]).parent.as_posix() == "deploy/secrets"
    assert "/deploy/secrets/" in ignored


def command(name: str) -> list[str]:
    given: list[str] = service(name)["command"]
    return given


def test_commands_name_what_exists() -> None:
    assert command("migrate")[:2] == ["python", "manage.py"]
    assert command("migrate")[2] in get_commands()
    assert command("web")[:3] == ["python", "-m", "uvicorn"]
    module, attribute = command("web")[3].split(":")
    assert callable(getattr(importlib.import_module(module), attribute))
    for name in ("worker-solver", "worker-dispatch", "beat"):
        assert command(name)[:3] == ["celery", "-A", "portal"]
    assert importlib.import_module("portal.celery").app.main == "sluice"


def test_every_queue_of_ours_has_a_worker() -> None:
    queues = {queue.name for queue in settings.CELERY_TASK_QUEUES}
    read = [
        argument.removeprefix("--queues=")
        for name in ("worker-solver", "worker-dispatch")
        for argument in command(name)
        if argument.startswith("--queues=")
    ]
    assert sorted(read) == sorted(queues)


@pytest.mark.parametrize("name", sorted(LONG_RUNNING))
def test_what_stays_up_has_a_health_check_and_restarts(name: str) -> None:
    assert service(name)["healthcheck"]["test"]
    assert service(name)["restart"] == "unless-stopped"


def test_mounted_files_exist() -> None:
    for described in compose()["services"].values():
        for volume in described.get("volumes", []):
            source = volume.split(":")[0]
            assert not source.startswith("./") or (ROOT / source).is_file(), source
            assert source.startswith("./") or source in compose()["volumes"], source


def dockerfile_copies() -> list[str]:
    lines = [shlex.split(line) for line in (ROOT / "Dockerfile").read_text().splitlines() if line.startswith("COPY")]
    return [word for line in lines if not line[1].startswith("--from") for word in line[1:-1]]


def test_the_image_holds_every_room_and_nothing_that_is_missing() -> None:
    copied = set(dockerfile_copies())
    for name in copied:
        assert (ROOT / name).exists(), f"Dockerfile copies {name}, which is not there"
    rooms = {app for app in settings.INSTALLED_APPS if (ROOT / app).is_dir()}
    parts = {name for name in ("agent", "templates", "static", "locale") if (ROOT / name).exists()}
    assert rooms | parts <= copied
    let_in = {line[1:] for line in (ROOT / ".dockerignore").read_text().split() if line.startswith("!")}
    assert copied == let_in


def test_the_image_runs_as_an_unprivileged_user() -> None:
    text = (ROOT / "Dockerfile").read_text()
    assert re.search(r"^USER sluice$", text, re.MULTILINE)
    assert "--require-hashes" in text
    assert "npm ci --ignore-scripts" in text
