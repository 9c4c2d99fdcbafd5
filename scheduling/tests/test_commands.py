"""How a typed command is run."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduling.commands import command_of, text_of


@pytest.mark.parametrize(
    ("text", "command"),
    [
        ("python train.py --lr 1e-4", ("python", "train.py", "--lr", "1e-4")),
        ("python -c 'print(1); print(2)'", ("python", "-c", "print(1); print(2)")),
        ('echo "two words"', ("echo", "two words")),
        ("", ()),
        ("  \n ", ()),
        ("python a.py && python b.py", ("bash", "-lc", "python a.py && python b.py")),
        ("A=1 python a.py", ("bash", "-lc", "A=1 python a.py")),
        ("echo $HOME", ("bash", "-lc", "echo $HOME")),
        ("set -e\r\npython a.py\n", ("bash", "-lc", "set -e\npython a.py")),
    ],
)
def test_plain_lines_are_split_and_scripts_get_a_shell(text: str, command: tuple[str, ...]) -> None:
    assert command_of(text) == command


def test_an_open_quote_is_refused() -> None:
    with pytest.raises(ValueError, match="quotation"):
        command_of('echo "open')


@given(st.lists(st.text(st.characters(exclude_characters="\r\0", codec="utf-8"), min_size=1), min_size=1, max_size=5))
def test_a_command_survives_the_form(command: list[str]) -> None:
    again = command_of(text_of(command))
    assert again == tuple(command) or again[:2] == ("bash", "-lc")
