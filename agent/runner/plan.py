"""From what the portal asks for to what this node does: user, folder, environment, CPUs, devices."""

import os
import signal
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from agent.errors import LaunchRefused
from agent.messages import DeviceReport, Launch
from agent.runner.records import Plan

JOB_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
FIRST_UID = 200_000
UIDS = 50_000
WHOLE_DEVICE = 1000


@dataclass(frozen=True)
class Node:
    """What a plan needs to know about the node."""

    node_id: int
    tag: str
    log_cap_bytes: int
    cpu_ids: tuple[int, ...]
    """Real cores to pin jobs to; empty where the node only claims to have its CPUs."""


@dataclass(frozen=True)
class Taken:
    """What running members hold."""

    milli_gpu: Mapping[str, int]
    cpu_ids: frozenset[int]


def job_uid(member_id: int) -> int | None:
    """The job's own user when the agent is root: no account has it, nor any member less than ``UIDS`` away."""
    return FIRST_UID + member_id % UIDS if os.geteuid() == 0 else None


def check_devices(launch: Launch, devices: Sequence[DeviceReport], taken: Taken) -> None:
    """Refuse devices that are not here, lost, or not free. The portal decides; this is the last look."""
    here = {device.uuid: device for device in devices}
    for share in launch.devices:
        device = here.get(share.uuid)
        if device is None:
            raise LaunchRefused(f"device {share.uuid} is not on this node")
        if device.state != "ok":
            raise LaunchRefused(f"device {share.uuid} is lost")
        if taken.milli_gpu.get(share.uuid, 0) + share.milli_gpu > WHOLE_DEVICE:
            raise LaunchRefused(f"device {share.uuid} is still held by another job on this node")


def _check_text(launch: Launch) -> None:
    if not launch.command or not launch.command[0]:
        raise LaunchRefused("the command is empty")
    for text in (*launch.command, *launch.env, *launch.env.values()):
        if "\0" in text:
            raise LaunchRefused("command or environment contains a zero byte")
    if any("=" in name or not name for name in launch.env):
        raise LaunchRefused("a variable's name is empty or contains '='")
    if not hasattr(signal, launch.signal) or not launch.signal.startswith("SIG"):
        raise LaunchRefused(f"unknown signal {launch.signal}")


def _pick_cpus(launch: Launch, node: Node, taken: Taken) -> tuple[int, ...]:
    free = [cpu for cpu in node.cpu_ids if cpu not in taken.cpu_ids]
    if launch.cpus == 0 or launch.cpus > len(free):
        return ()
    return tuple(free[: launch.cpus])


def _environment(launch: Launch, node: Node, work: str, checkpoint_dir: str) -> dict[str, str]:
    is_simulated = any(share.uuid.startswith(SIMULATED_PREFIX) for share in launch.devices)
    uuids = ",".join(share.uuid for share in launch.devices)
    own = {
        "CUDA_VISIBLE_DEVICES": "" if is_simulated else uuids,
        "RANK": str(launch.rank),
        "WORLD_SIZE": str(launch.world_size),
        "SLUICE_JOB_ID": str(launch.job_id),
        "SLUICE_JOB_NAME": launch.job_name.replace("\0", ""),
        "SLUICE_MEMBER_ID": str(launch.member_id),
        "SLUICE_NODE_ID": str(node.node_id),
        "SLUICE_LAUNCH_KEY": launch.launch_key,
        "SLUICE_DEVICES": ",".join(f"{share.uuid}={share.milli_gpu}" for share in launch.devices),
    }
    if is_simulated:
        own["SLUICE_SIMULATED_DEVICES"] = uuids
    if checkpoint_dir:
        own["SLUICE_CHECKPOINT_DIR"] = checkpoint_dir
    base = {"PATH": JOB_PATH, "LANG": "C.UTF-8", "SHELL": "/bin/sh", "PYTHONUNBUFFERED": "1"}
    return {**base, **launch.env, "HOME": work, **own}


SIMULATED_PREFIX = "GPU-SIM-"


def make_plan(launch: Launch, node: Node, taken: Taken, work: Path) -> Plan:
    """Decide everything about one start. Raises LaunchRefused."""
    _check_text(launch)
    checkpoint_dir = str(work / launch.checkpoint_dir) if launch.checkpoint_dir else ""
    uid = job_uid(launch.member_id)
    return Plan(
        command=launch.command,
        env=_environment(launch, node, str(work), checkpoint_dir),
        work=str(work),
        uid=uid,
        gid=uid,
        cpu_ids=_pick_cpus(launch, node, taken),
        memory_bytes=launch.memory_bytes,
        group=f"{node.tag}-{launch.member_id}",
        max_runtime_s=launch.max_runtime_s,
        grace_s=launch.grace_s,
        signal=launch.signal,
        checkpoint_dir=checkpoint_dir,
        log_cap_bytes=node.log_cap_bytes,
    )
