"""Backup files: whole or refused."""

import io
import json
import tarfile
from pathlib import Path

import pytest

from portal.setup import archive
from portal.setup.refusal import Refusal


def write(folder: Path) -> Path:
    (folder / "in").mkdir()
    (folder / "in" / "big").write_bytes(bytes(range(256)) * 8192)
    (folder / "in" / "empty").touch()
    target = folder / "x.tar"
    with archive.writing(target) as writer:
        writer.add_folder(folder / "in", "files")
    return target


def test_what_is_written_is_read_back_and_closed_to_others(tmp_path: Path) -> None:
    target = write(tmp_path)
    archive.verify(target)
    archive.unpack(target, tmp_path / "out")
    assert (tmp_path / "out" / "files" / "big").read_bytes() == (tmp_path / "in" / "big").read_bytes()
    assert (tmp_path / "out" / "files" / "empty").read_bytes() == b""
    assert not (tmp_path / "out" / archive.MANIFEST).exists()
    assert target.stat().st_mode & 0o077 == 0
    assert (tmp_path / "out" / "files" / "big").stat().st_mode & 0o077 == 0


def test_links_are_not_followed(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("elsewhere")
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "link").symlink_to(tmp_path / "secret")
    with archive.writing(tmp_path / "x.tar") as writer:
        writer.add_folder(tmp_path / "in", "files")
    assert b"elsewhere" not in (tmp_path / "x.tar").read_bytes()


def test_a_failure_leaves_no_file_and_nothing_is_overwritten(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError), archive.writing(tmp_path / "x.tar"):
        raise RuntimeError
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "x.tar").write_text("old")
    with pytest.raises(Refusal, match="never overwritten"), archive.writing(tmp_path / "x.tar"):
        pass
    assert (tmp_path / "x.tar").read_text() == "old"


def test_a_cut_or_changed_file_is_refused(tmp_path: Path) -> None:
    whole = write(tmp_path).read_bytes()
    place = whole.index(bytes(range(256)))
    for name, data in {
        "cut": whole[: len(whole) // 2],
        "changed": whole[:place] + b"\xff" + whole[place + 1 :],
        "no tar": b"hello",
        "empty": b"",
    }.items():
        (tmp_path / name).write_bytes(data)
        with pytest.raises(Refusal):
            archive.verify(tmp_path / name)
    with pytest.raises(Refusal, match="no file"):
        archive.verify(tmp_path / "missing")


@pytest.mark.parametrize("name", ["../out", "/etc/out", "a/../../out"])
def test_a_member_outside_the_folder_is_refused(tmp_path: Path, name: str) -> None:
    with tarfile.open(tmp_path / "x.tar", "w") as tar:
        for member, data in ((name, b"x"), (archive.MANIFEST, json.dumps({"format": 1, "sha256": {}}).encode())):
            info = tarfile.TarInfo(member)
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))
    with pytest.raises(Refusal, match="unexpected member"):
        archive.verify(tmp_path / "x.tar")


def test_a_later_format_is_refused_by_number(tmp_path: Path) -> None:
    with tarfile.open(tmp_path / "x.tar", "w") as tar:
        data = json.dumps({"format": 99, "sha256": {}}).encode()
        info = tarfile.TarInfo(archive.MANIFEST)
        info.size = len(data)
        tar.addfile(info, io.BytesIO(data))
    with pytest.raises(Refusal, match="format 99"):
        archive.verify(tmp_path / "x.tar")
