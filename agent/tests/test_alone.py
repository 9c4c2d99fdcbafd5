"""The agent stands alone: no Django, no room of the portal, and a shim without any package."""

import subprocess
import sys
import time

from agent.tests.agent_process import ROOT

BLOCKED = (
    "django", "rest_framework", "kernel", "accounts", "approvals", "inventory", "projects", "quotas", "scheduling",
    "monitoring", "portal",
)  # fmt: skip
WITHOUT = f"""
import importlib, pkgutil, sys
class Block:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in {BLOCKED!r}:
            raise ImportError("blocked: " + name)
sys.meta_path.insert(0, Block())
import agent
for module in pkgutil.walk_packages(agent.__path__, "agent."):
    if ".tests" not in module.name and not module.name.endswith(("__main__", ".start")):
        importlib.import_module(module.name)
import agent.__main__
print(sorted({{name.split(".")[0] for name in sys.modules}} & set({BLOCKED!r})))
"""


def test_every_module_imports_without_django() -> None:
    done = subprocess.run([sys.executable, "-c", WITHOUT], cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "[]\n", "")


def test_the_shim_needs_the_standard_library_only_and_starts_fast() -> None:
    code = (
        f"import sys; sys.path.insert(0, {str(ROOT)!r}); import agent.runner.shim.supervisor; print(len(sys.modules))"
    )
    taken = []
    for _ in range(5):
        began = time.perf_counter()
        done = subprocess.run([sys.executable, "-I", "-S", "-c", code], capture_output=True, text=True, check=True)
        taken.append(time.perf_counter() - began)
        assert int(done.stdout) < 100
    # The goal is 0.04 s on a quiet machine; this bound only catches an import that does not belong there.
    assert min(taken) < 0.2, taken
