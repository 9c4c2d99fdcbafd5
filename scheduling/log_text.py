"""From a log's bytes to events of text: characters stay whole, offsets stay offsets of bytes. Pure."""

LONGEST_CHARACTER = 4
"""Bytes of the longest character in UTF-8."""


class LogText:
    """Turns pieces of bytes, read one after another from ``offset``, into texts. What could be the first part of a
    character or of a line's end is left to the next piece; ``offset`` is where that has to be read from."""

    def __init__(self, offset: int) -> None:
        self.offset = offset

    def take(self, data: bytes, *, is_last: bool) -> str:
        """The text of ``data``, which starts at ``offset``. Bytes that are no UTF-8 become replacement marks."""
        whole = data if is_last else data[: _whole(data)]
        self.offset += len(whole)
        return whole.decode("utf-8", errors="replace").replace("\r\n", "\n").replace("\r", "\n").replace("\0", "\ufffd")


def event(text: str, offset: int) -> bytes:
    """One server-sent event: the text, and as its id the offset after it."""
    lines = "".join(f"data: {line}\n" for line in text.split("\n"))
    return f"id: {offset}\n{lines}\n".encode()


def _whole(data: bytes) -> int:
    """How many of these bytes end with a whole character, and not between the two of a line's end."""
    end = len(data)
    for back in range(1, min(LONGEST_CHARACTER, end) + 1):
        byte = data[end - back]
        if byte >= 0xC0:
            length = 2 if byte < 0xE0 else 3 if byte < 0xF0 else 4
            end = end - back if length > back else end
            break
        if byte < 0x80:
            break
    return end - 1 if end > 1 and data[end - 1 : end] == b"\r" else end
