"""``./run``: one whole instance, from an empty folder or from what is there, until somebody stops it."""

import os
import shutil
import time
import webbrowser

from portal.setup.refusal import ExitCode, Refusal
from portal.setup.say import result, say
from portal.supervisor import services
from portal.supervisor.instance import HOST, Instance, is_free
from portal.supervisor.leftovers import clear_leftovers
from portal.supervisor.prepare import Options, is_new, prepare_database, seed_again
from portal.supervisor.readiness import missing
from portal.supervisor.supervisor import StopRequested, Supervisor

DEMO_ACCOUNTS = "admin director lead researcher auditor stranger"
_DATABASE_SECONDS = 60
_READY_SECONDS = 180
_MANAGE_SECONDS = 60


def start(instance: Instance, options: Options) -> None:
    """Start everything, say ``ready``, stay until a stop is requested, then stop everything."""
    instance.prepare()
    instance.require_room()
    _own(instance)
    supervisor = Supervisor(instance)
    supervisor.catch_signals()
    try:
        clear_leftovers(instance)
        _bring_up(supervisor, instance, options)
        supervisor.keep_up()
    except StopRequested:
        say("stopping")
    finally:
        supervisor.stop()
        instance.unlock()
    say("stopped")


def _own(instance: Instance) -> None:
    """Take the data folder; a ``./run manage`` that has its database up is waited for, a running portal is not."""
    deadline = time.monotonic() + _MANAGE_SECONDS
    while not instance.try_lock("run"):
        if instance.owner() != "manage":
            raise Refusal(ExitCode.IN_USE, f"the data folder {instance.folder} is in use by a running ./run")
        if time.monotonic() > deadline:
            raise Refusal(ExitCode.IN_USE, f"the data folder {instance.folder} is in use by a ./run manage")
        time.sleep(0.2)


def _bring_up(supervisor: Supervisor, instance: Instance, options: Options) -> None:
    if not is_free(options.port):
        raise Refusal(ExitCode.PORT_TAKEN, f"port {options.port} is taken; choose another with --port")
    instance.settle_ports()
    instance.keep_web_port(options.port)
    say(f"starting the databases in {instance.folder}")
    postgres, valkey, database_services = services.databases(instance)
    supervisor.start_stage(database_services)
    supervisor.wait_for(
        lambda: postgres.is_ready() and valkey.is_ready(),
        _DATABASE_SECONDS,
        lambda: f"the databases do not answer (logs: {instance.logs})",
    )
    postgres.ensure_database()
    has_new_nodes = is_new(instance)
    prepare_database(supervisor, instance, options)
    say("starting web, workers and agents")
    supervisor.start_stage([services.web(instance, options.port)])
    supervisor.start_stage(services.workers(instance))
    supervisor.start_stage([services.beat(instance)])
    fleet = [] if options.is_empty else [services.fleet(instance, options.port)]
    supervisor.start_stage([*services.agents(instance, options.port), *fleet])
    address = f"http://{HOST}:{options.port}"
    supervisor.wait_for(lambda: not missing(address), _READY_SECONDS, lambda: f"not ready: {missing(address)}")
    if has_new_nodes and not options.is_empty:
        seed_again(supervisor, instance)
    accounts = "account admin" if options.is_empty else f"accounts {DEMO_ACCOUNTS}"
    say(f"{accounts}; password {instance.secret('demo-password')}")
    result(f"ready {address}")
    if options.opens_browser and _has_display():
        webbrowser.open(address)


def _has_display() -> bool:
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")) or shutil.which("open") is not None
