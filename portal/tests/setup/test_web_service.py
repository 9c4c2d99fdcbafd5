"""How the web process of ``./run`` is started."""

from pathlib import Path

from uvicorn.main import main as uvicorn

from portal.supervisor.instance import Instance
from portal.supervisor.services import web


def test_without_a_proxy_nobody_is_believed_about_their_address(tmp_path: Path) -> None:
    instance = Instance(tmp_path)
    instance.prepare()
    argv = list(web(instance, 8000).argv)
    options = uvicorn.make_context("uvicorn", argv[argv.index("uvicorn") + 1 :]).params
    assert options["host"] == "127.0.0.1"
    assert options["proxy_headers"] is False
