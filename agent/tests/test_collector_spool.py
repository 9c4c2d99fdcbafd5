"""Batches, the spool and the poster, and samples from a real agent."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from msgspec import json

from agent.collector.batch import Row, make_batch
from agent.collector.devices import DeviceSample
from agent.collector.host import HostSample, HostSampler
from agent.collector.sampler import PAUSE_S, Poster
from agent.collector.simulated import SimulatedDevices, memory_of
from agent.collector.spool import Spool
from agent.messages import DeviceShare, SampleBatch
from agent.portal import Portal
from agent.settings import Simulation
from agent.tests.agent_process import AgentProcess, eventually, launch
from agent.tests.portal_server import TOKEN, PortalServer

AT = datetime(2030, 1, 1, tzinfo=UTC)


def row(second: int, **devices: DeviceSample) -> Row:
    return Row(AT + timedelta(seconds=second), devices, HostSample(cpu_pct=5.0, memory_used_bytes=second))


def test_columns_are_as_long_as_the_batch_and_gaps_are_null() -> None:
    batch = make_batch(
        [row(0, a=DeviceSample(10, 1)), row(10, b=DeviceSample(20)), row(20, a=DeviceSample(0, 0))],
        "boot",
        is_simulated=False,
    )
    # What goes over the wire is what the protocol's types take.
    batch = json.decode(json.encode(batch), type=SampleBatch)
    first, second = batch.devices
    assert (first.uuid, first.utilisation_pct, first.memory_used_bytes) == ("a", (10, None, 0), (1, None, 0))
    assert (second.uuid, second.utilisation_pct, second.clock_mhz) == ("b", (None, 20, None), (None, None, None))
    assert batch.host is not None
    assert batch.host.memory_used_bytes == (0, 10, 20)


def test_the_spool_drops_the_oldest_beyond_its_cap(tmp_path: Path) -> None:
    spool = Spool(tmp_path, cap_bytes=250)
    for number in range(5):
        spool.put(f"{number}".encode() * 100)
    kept = []
    while (waiting := spool.oldest()) is not None:
        kept.append(waiting[1][:1])
        spool.remove(waiting[0])
    assert kept == [b"3", b"4"]


def test_the_spool_survives_a_restart_and_forgets_half_written_batches(tmp_path: Path) -> None:
    Spool(tmp_path, 1000).put(b"whole")
    (tmp_path / "0-1.part").write_bytes(b"hal")
    spool = Spool(tmp_path, 1000)
    waiting = spool.oldest()
    assert waiting is not None
    assert waiting[1] == b"whole"
    assert [path.name for path in tmp_path.iterdir()] == [waiting[0].name]


@pytest.mark.parametrize(("status", "is_kept"), [(503, True), (401, True), (0, True), (422, False), (400, False)])
def test_a_batch_is_kept_until_taken_or_refused_for_what_it_is(
    portal: PortalServer, tmp_path: Path, status: int, is_kept: bool
) -> None:
    spool = Spool(tmp_path, 10_000)
    poster = Poster(Portal(portal.url, TOKEN), spool, "boot", is_simulated=True)
    poster.keep([row(0, a=DeviceSample(1))])
    portal.status = status
    wait_s = poster.once()
    assert wait_s is not None
    assert (spool.oldest() is not None) == is_kept
    assert (wait_s != PAUSE_S) == is_kept
    portal.status = None
    poster.once()
    assert spool.oldest() is None
    assert len(portal.batches) == is_kept


def test_host_values_are_plausible_and_the_first_load_is_no_data(tmp_path: Path) -> None:
    sampler = HostSampler(tmp_path)
    first, second = sampler.sample(), sampler.sample()
    assert first.cpu_pct is None
    assert second.cpu_pct is not None
    assert second.memory_used_bytes is not None
    assert second.memory_used_bytes > 1 << 20


@pytest.mark.parametrize(
    ("model", "gib"), [("H100", 80), ("NVIDIA A100-SXM4-40GB", 40), ("H200 141 GB", 141), ("T4", 16), ("X9", 80)]
)
def test_memory_of_a_simulated_device_follows_its_name(model: str, gib: int) -> None:
    assert memory_of(model) == gib << 30


def test_simulated_devices_are_busy_only_while_held() -> None:
    devices = SimulatedDevices(Simulation("H100", 2), "home")
    first, second = (report.uuid for report in devices.devices())
    sample = devices.sample({first: 1000})
    busy, idle = sample[first], sample[second]
    assert busy.utilisation_pct is not None
    assert idle.utilisation_pct == 0
    assert busy.utilisation_pct > 70
    assert busy.power_mw is not None
    assert idle.power_mw is not None
    assert busy.power_mw > 3 * idle.power_mw
    again = devices.sample({first: 1000})[first]
    assert again.energy_mj is not None
    assert busy.energy_mj is not None
    assert again.energy_mj >= busy.energy_mj


def test_samples_of_a_new_job_arrive_within_two_intervals(portal: PortalServer, agent: AgentProcess) -> None:
    device = agent.device(1)
    portal.want(launch(1, "exec sleep 60", devices=(DeviceShare(device, 1000),)))
    agent.start()
    portal.wait_state(1, "running")

    def utilisation() -> list[float | None]:
        series = [series for batch in portal.batches for series in batch.devices if series.uuid == device]
        return [value for one in series for value in one.utilisation_pct]

    portal.wait_for(lambda: any(value is not None and value > 50 for value in utilisation()), "a busy sample", 5)
    assert all(batch.is_simulated for batch in portal.batches)
    assert {series.uuid for series in portal.batches[-1].devices} == {agent.device(0), device}
    instants = [at for batch in portal.batches for at in batch.at]
    assert instants == sorted(set(instants))


@pytest.mark.fault
def test_samples_taken_while_the_portal_is_away_arrive_later(portal: PortalServer, agent: AgentProcess) -> None:
    agent.start()
    portal.wait_for(lambda: len(portal.batches) >= 2, "samples")
    portal.stop()
    eventually(lambda: len(list((agent.home / "spool").glob("*.json"))) >= 2, "samples on the spool")
    kept = [path.read_bytes() for path in sorted((agent.home / "spool").glob("*.json"))]
    spooled = {at for body in kept for at in json.decode(body, type=SampleBatch).at}
    portal.start()
    eventually(lambda: not list((agent.home / "spool").glob("*.json")), "an empty spool", 30)
    instants = [at for batch in portal.batches for at in batch.at]
    assert instants == sorted(set(instants))
    assert spooled
    assert spooled <= set(instants)
