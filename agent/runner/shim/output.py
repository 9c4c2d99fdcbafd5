"""The job's output: from its pipe into ``output.log``, up to a cap, without ever holding the job up."""

import errno
import os
import select
from pathlib import Path

from agent.durable import write_all

CHUNK = 1 << 20


class Output:
    """Moves bytes inside the kernel. Past the cap, or on a full disk, output is read and dropped."""

    def __init__(self, path: Path, cap_bytes: int) -> None:
        self._log = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)
        self._written = os.lseek(self._log, 0, os.SEEK_END)
        self._cap = cap_bytes
        self._can_splice = True
        self._is_truncated = False
        self._lost = 0
        self.pipe: int | None = None

    def attach(self, pipe: int) -> None:
        """Read from this pipe from now on."""
        os.set_blocking(pipe, False)
        self.pipe = pipe

    def move(self) -> bool:
        """Take what is there now. False when there is nothing more at the moment, or for ever."""
        if self.pipe is None:
            return False
        try:
            count = self._move_some(self.pipe)
        except BlockingIOError:
            return False
        if count == 0:
            os.close(self.pipe)
            self.pipe = None
        return count > 0

    def _move_some(self, pipe: int) -> int:
        room = self._cap - self._written
        if room <= 0:
            return self._drop(pipe)
        try:
            count = self._transfer(pipe, min(room, CHUNK))
        except BlockingIOError:
            raise
        except OSError as error:
            if error.errno not in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO):
                raise
            dropped = len(os.read(pipe, CHUNK))
            self._lost += dropped
            return dropped
        self._written += count
        return count

    def _transfer(self, pipe: int, count: int) -> int:
        if self._can_splice:
            try:
                return os.splice(pipe, self._log, count, flags=os.SPLICE_F_NONBLOCK)
            except OSError as error:
                if error.errno != errno.EINVAL:
                    raise
                self._can_splice = False  # not on this file system
        data = os.read(pipe, count)
        write_all(self._log, data)
        return len(data)

    def _drop(self, pipe: int) -> int:
        if not self._is_truncated:
            self._is_truncated = True
            self.say(f"output truncated: the node keeps {self._cap} bytes of a job's output")
        return len(os.read(pipe, CHUNK))

    def drain(self) -> None:
        """Take everything that is in the pipe, without waiting for more."""
        while self.move():
            pass

    def say(self, text: str) -> None:
        """A line of our own in the job's log. On a full disk it is lost."""
        try:
            self._written += os.write(self._log, f"\n[sluice] {text}\n".encode())
        except OSError:
            self._lost += 1

    def close(self) -> None:
        """Make the log durable: the exit record that follows says that it is complete."""
        self.drain()
        if self._lost:
            self.say(f"{self._lost} bytes of output were lost: no space left on the node's disk")
        try:
            os.fsync(self._log)
        except OSError:
            self._lost += 1
        os.close(self._log)

    def register(self, poll: select.poll) -> None:
        """Have the poll wake for output."""
        if self.pipe is not None:
            poll.register(self.pipe, select.POLLIN)
