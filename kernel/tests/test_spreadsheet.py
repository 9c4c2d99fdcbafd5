"""What goes into a cell comes back as it was, and never as a formula."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernel.spreadsheet import from_xlsx, safe, to_xlsx, unsafe

HOSTILE = st.text(alphabet=st.sampled_from("'=+-@＝＋\t\r\n ax名\"_0041"), max_size=12)


@given(HOSTILE | st.text(alphabet=st.characters(exclude_categories=("Cc", "Cs")), max_size=30))
def test_what_is_made_safe_is_read_back_as_it_was(text: str) -> None:
    assert unsafe(safe(text)) == text
    assert not re.match(r"[ \n]*[=+\-@＝＋－＠\t\r]", safe(text))


@pytest.mark.parametrize(
    "text", ["'=1", "''=1", "'", "'a", "it's", "= 1", " =1", "\n=1", "\t", "-5", "@x", "＝1", "＠x"]
)
def test_a_mark_of_the_text_itself_stays(text: str) -> None:
    assert unsafe(safe(text)) == text


@pytest.mark.parametrize("sign", list("=+-@＝＋－＠"))
def test_signs_that_begin_a_formula_are_marked_in_either_width(sign: str) -> None:
    assert safe(f"{sign}1+1") == f"'{sign}1+1"


def test_only_our_own_mark_is_taken_away() -> None:
    assert unsafe("'plain") == "'plain"
    assert unsafe("=1") == "=1"


@given(st.text(alphabet=st.sampled_from("_x0041DF5\r\n "), max_size=20))
def test_the_escapes_of_the_file_format_are_undone(text: str) -> None:
    assert from_xlsx(to_xlsx(text)) == text


def test_what_excel_writes_for_a_carriage_return_is_one() -> None:
    assert from_xlsx("a_x000D_\nb") == "a\r\nb"
    assert from_xlsx("_x005F_x0041_") == "_x0041_"
