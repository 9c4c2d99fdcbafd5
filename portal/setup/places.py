"""Where things are in a checkout."""

import hashlib
import sysconfig
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
VENV = ROOT / ".venv"
PYTHON = VENV / "bin" / "python"
NODE_MODULES = ROOT / "node_modules"
STATIC_ROOT = ROOT / "staticfiles"
LOCALE = ROOT / "locale"


def site_packages() -> Path:
    """The packages of the virtual environment (made by this same Python)."""
    return Path(sysconfig.get_path("purelib", "venv", {"base": str(VENV), "platbase": str(VENV)}))


def digest(parts: Iterable[bytes]) -> str:
    """A fingerprint of files, to tell whether a set-up step is still up to date."""
    total = hashlib.sha256()
    for part in parts:
        total.update(hashlib.sha256(part).digest())
    return total.hexdigest()


def is_current(stamp: Path, fingerprint: str) -> bool:
    """Whether the step that wrote this stamp ran to its end for the same input."""
    return stamp.is_file() and stamp.read_text() == fingerprint
