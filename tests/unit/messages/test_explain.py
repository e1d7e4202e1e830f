"""explain: every message under its own id, and nothing of a text gets out raw.

messages.tsv holds messages as they are printed, by the id they must be found under. Asserts are
strings of modules that TVM v0.6, v0.8 and v0.14 compiled; others are from the sources at the tags
that formats/tvm.md and formats/executorch.md cite, and from recorded answers of the Inspector.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tvmdbg_widgets as tvmdbg
from tvmdbg_widgets.analysis.abi.places import PLACES
from tvmdbg_widgets.analysis.messages.conditions import comparisons
from tvmdbg_widgets.analysis.messages.table import MESSAGES, any_literal

ROOT = Path(__file__).parents[3]
_LINES = (Path(__file__).parent / "messages.tsv").read_text("utf-8").splitlines()
ALL = [(name, text) for name, _, text in (line.partition("\t") for line in _LINES)]
CASES: dict[str, list[str]] = {}
for _name, _text in ALL:
    CASES.setdefault(_name, []).append(_text)


@pytest.mark.parametrize(("name", "text"), ALL, ids=[f"{name}-{len(text)}" for name, text in ALL])
def test_a_message_is_found_under_its_id_alone(name: str, text: str) -> None:
    found = tvmdbg.explain(f"something before\n{text}\nsomething after")
    assert [each.message.id for each in found] == [name]
    assert found[0].line == 2
    assert found.lines == 3
    assert not found.unknown


def test_every_message_has_its_case_and_says_everything() -> None:
    assert {each.id for each in MESSAGES} == CASES.keys()
    assert len({each.id for each in MESSAGES}) == len(MESSAGES)
    for each in MESSAGES:
        assert all((each.next, each.source, each.versions)), each.id
        assert each.cause.endswith("."), each.id


def test_the_condition_of_an_assert_is_read() -> None:
    for text, dtype, name in zip(
        CASES["argument-dtype"],
        ("int8", "float32", "float32"),
        ("arg0", "arg0", "pad.var_A"),
        strict=True,
    ):
        (found,) = tvmdbg.explain(text)
        assert found.facts == {"name": name, "dtype": dtype}
        assert f"The code expects {dtype}: type code" in found.details[0]
        assert found.details[-1].endswith("compiled for the narrow layout of DLDataType.")
        assert [each.field for each in comparisons(text)] == ["code", "bits", "lanes"]
        assert [each.kind for each in comparisons(text)] == ["u8", "u8", "u16"]
    wide = CASES["argument-dtype"][1].replace("uint16", "int32").replace("uint8", "uint16")
    (found,) = tvmdbg.explain(wide)
    assert found.details[-1].endswith("compiled for the wide layout of DLDataType.")


def test_bool_is_told_in_both_its_forms() -> None:
    for code, bits in ((1, 1), (6, 8)):
        text = CASES["argument-dtype"][1].replace("(uint8)2", f"(uint8){code}")
        text = text.replace("(uint8)32", f"(uint8){bits}").replace("float32", "bool")
        (found,) = tvmdbg.explain(text)
        assert f"The code expects bool: type code {code}, bits {bits}, lanes 1." in found.details


def test_a_disagreement_of_layouts_lists_all_places() -> None:
    text = tvmdbg.explain(CASES["argument-dtype"][0]).text
    for place in PLACES:
        assert place.paths[-1].rpartition("/")[2] in text
        assert place.forgotten in text
    assert PLACES[0].forgotten not in tvmdbg.explain(CASES["graph-wrong-op"][0]).text


def test_lines_that_a_terminal_cut_are_joined() -> None:
    text = CASES["argument-dtype"][1]
    cut = "\n".join(text[at : at + 120] for at in range(0, len(text), 120))
    found = tvmdbg.explain(f"x\n{cut}\ny")
    assert [each.message.id for each in found] == ["argument-dtype"]
    assert found[0].line in {2, 3}
    assert "float32" in found[0].details[0]


def test_equal_messages_are_counted_and_different_ones_kept() -> None:
    one, other = CASES["argument-dtype"][:2]
    found = tvmdbg.explain("\n".join([one] * 500 + [other] * 2))
    assert [(each.line, each.count) for each in found] == [(1, 500), (501, 2)]
    assert "line 1, 500 times: " in found.text


def test_what_is_not_known_is_said() -> None:
    found = tvmdbg.explain("all fine\nRuntimeError: the moon is full\n")
    assert not found
    assert found.text.startswith("no message that is known in 2 lines")
    assert found.unknown == ((2, "RuntimeError: the moon is full"),)
    assert tvmdbg.explain("").text == "no message that is known in 0 lines"


def test_nothing_of_a_text_gets_out_raw() -> None:
    evil = "\x1b[31m<script>alert(1)</script>\x1b]0;title\x07 "
    found = tvmdbg.explain(evil + CASES["graph-wrong-op"][0] + "\x9b31m\x00\u202e")
    assert found
    assert not set(repr(found)) & set("\x1b\x07\x9b\x00\u202e")
    assert "<script>" not in found._repr_html_()
    assert "\x1b" not in json.dumps(found.to_dataframe().to_dict("list"))


@given(st.text(max_size=400) | st.binary(max_size=400))
def test_any_text_is_taken(text: str | bytes) -> None:
    found = tvmdbg.explain(text)
    assert all(line.isprintable() for line in found.text.splitlines())


PIECES = [each.literal for each in MESSAGES]
PIECES += ["\n", "Assert fail: ", "arg0", "tvm_struct_get(arg0, 0, 5) == (uint8)2", "Mismatched A"]
PIECES += ["Error", "key ", "1 | 2 | 4", " | 8", "shape '[4", "\x1b[", "9" * 30, "x" * 130]


@given(st.lists(st.sampled_from(PIECES), max_size=60))
def test_pieces_of_messages_are_taken(pieces: list[str]) -> None:
    assert isinstance(tvmdbg.explain("".join(pieces)).text, str)


@pytest.mark.parametrize("size", [200_000])
def test_work_grows_with_the_text_alone(size: int) -> None:
    """Each pattern meets long repeats of what it looks for; a catastrophic one never ends."""
    for each in MESSAGES:
        assert not re.search(r"\)[*+]|\}[*+{]|[*+]\)[*+{]", each.pattern), each.id
        piece = each.literal + " 1(a."
        each.regex.search(piece * (size // len(piece)))
        each.regex.search("a" * 3000 + each.literal)
    for piece in ("Assert fail: ", "tvm_struct_get(a, 0, 5) == ", "Error\n", "\x1b[", "kUnknown\n"):
        assert tvmdbg.explain(piece * (size // len(piece))).lines
    assert any_literal().search("x" * size) is None


def test_the_page_lists_every_message() -> None:
    from make.messages_page import page

    assert (ROOT / "docs/messages.md").read_text("utf-8") == page()
