r"""explain: every message under its own id, and nothing of a text gets out raw.

messages.tsv holds messages as they are printed: the id they must be found under, the release, the
text with line ends as \n. Asserts are strings of modules that TVM v0.6 to v0.21 compiled. Those of
v0.25 were printed by apache-tvm 0.25.0.post1. Others are from the sources at the tags that
formats/tvm.md and formats/executorch.md cite, and from recorded answers of the Inspector.
"""

import json
import re
import textwrap
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tvmdbg_widgets as tvmdbg
from tvmdbg_widgets.analysis.abi.places import PLACES
from tvmdbg_widgets.analysis.explanation import comparisons
from tvmdbg_widgets.analysis.known_messages import MESSAGES
from tvmdbg_widgets.analysis.pasted_text import tolerant

ROOT = Path(__file__).parents[3]
_LINES = (Path(__file__).parent / "messages.tsv").read_text("utf-8").splitlines()
_CELLS = [line.split("\t", 2) for line in _LINES]
ALL = [(name, version, text.replace("\\n", "\n")) for name, version, text in _CELLS]
CASES: dict[str, list[str]] = {}
for _name, _version, _text in ALL:
    CASES.setdefault(_name, []).append(_text)


@pytest.mark.parametrize(
    ("name", "version", "text"), ALL, ids=[f"{row}-{each[0]}" for row, each in enumerate(ALL)]
)
def test_a_message_is_found_under_its_id_alone(name: str, version: str, text: str) -> None:
    found = tvmdbg.explain(f"something before\n{text}\nsomething after")
    assert [each.message.id for each in found] == [name]
    assert found[0].line == 2
    assert found.lines == 3 + text.count("\n")
    assert not found.unknown
    assert _number(version) in _releases(found[0].message.versions)


def _number(version: str) -> int:
    """The number of a release: 8 of v0.8, 105 of ExecuTorch 1.5.1."""
    major, minor = re.findall(r"\d+", version)[:2]
    return 100 * int(major) + int(minor)


def _releases(said: str) -> range | set[int]:
    """Numbers of the releases that a message says it is printed by."""
    numbers = [_number(each) for each in re.findall(r"\bv?\d+\.\d+", said)]
    if " to " in said:
        return range(numbers[0], numbers[-1] + 1)
    if said == "all" or said.endswith(("and later", "at least", "with QNN")):
        return range(numbers[0] if numbers else 0, 10_000)
    return set(numbers)


def test_every_message_has_a_case_and_complete_fields() -> None:
    assert {each.id for each in MESSAGES} == CASES.keys()
    assert len({each.id for each in MESSAGES}) == len(MESSAGES)
    for each in MESSAGES:
        assert all((each.next, each.source, each.versions)), each.id
        assert each.cause.endswith("."), each.id


CONDITIONS = [text for text in CASES["argument-dtype"] if "tvm_struct_get" in text]
NARROW_SAID = "It compares code:u8 bits:u8 lanes:u16: compiled for the narrow layout of DLDataType."
WIDE_SAID = "It compares code:u16 bits:u16 lanes:i32: compiled for the wide layout of DLDataType."
#: lanes is int32 there: its constants are printed without a type.
WIDE = CASES["argument-dtype"][1].replace("(uint16)1", "1").replace("uint8", "uint16")


@pytest.mark.parametrize("text", CONDITIONS)
def test_the_condition_of_an_assert_is_read(text: str) -> None:
    (found,) = tvmdbg.explain(text)
    dtype = found.facts["dtype"]
    assert f"The code expects {dtype}: type code" in found.details[0]
    assert NARROW_SAID in found.details
    assert [each.field for each in comparisons(text)] == ["code", "bits", "lanes"]


def test_dtype_code_of_wide_layout_is_explained() -> None:
    assert "(uint16)2" in WIDE
    (found,) = tvmdbg.explain(WIDE)
    assert WIDE_SAID in found.details
    # The first two bytes of a narrow float32, 02 20, as one u16.
    assert any("If it reads 8194 (0x2002)" in each for each in found.details)
    text = CASES["argument-dtype"][2].replace("T.uint16(1)", "1").replace("uint8", "uint16")
    (found,) = tvmdbg.explain(text.replace(', 7, "uint16"', ', 7, "int32"'))
    assert WIDE_SAID in found.details


@pytest.mark.parametrize(
    ("value", "kind"),
    [("(uint8)2", "u8"), ("T.uint8(2)", "u8"), ("uint8(2)", "u8"), ("2u8", "u8"), ("2", "i32")],
)
def test_values_are_read_on_either_side(value: str, kind: str) -> None:
    get = "tir.tvm_struct_get(arg0, 0, 5)"
    for text in (f"({get} == {value})", f"({value} == {get})"):
        assert comparisons(text) == (("code", 2, kind),)


def test_other_fields_are_not_read_as_type_comparisons() -> None:
    assert comparisons("(2 == tir.tvm_struct_get(arg0, 0, 4)) && (x == 5)") == ()
    assert comparisons("tvm_struct_get(a, 0, 5) == (uint8)2 == == 3 3 && 4") == (("code", 2, "u8"),)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (CASES["argument-ndim"][0], "arg0 is argument 0 of the compiled function"),
        (CASES["argument-null-tensor"][0], "It is the argument var_A of the function pad."),
        (CASES["mismatched-type"][0], "It is argument 0 of main(A: Tensor([4, 8], float32)"),
    ],
)
def test_argument_is_named_as_precisely_as_message_allows(text: str, said: str) -> None:
    (found,) = tvmdbg.explain(text)
    assert any(each.startswith(said) for each in found.details)


def test_expected_value_is_read_from_third_line() -> None:
    for name, expected in (("mismatched-dtype", "float32"), ("mismatched-shape", "4")):
        (found,) = tvmdbg.explain(CASES[name][0])
        assert found.facts["expected"] == expected
        assert found.facts["index"] == "0"


def test_both_bool_type_codes_are_explained() -> None:
    for code, bits in ((1, 1), (6, 8)):
        text = CASES["argument-dtype"][1].replace("(uint8)2", f"(uint8){code}")
        text = text.replace("(uint8)32", f"(uint8){bits}").replace("float32", "bool")
        (found,) = tvmdbg.explain(text)
        assert f"The code expects bool: type code {code}, bits {bits}, lanes 1." in found.details


def test_layout_conflict_lists_places_on_request_and_hints_once() -> None:
    found = tvmdbg.explain("\n".join(CASES["argument-dtype"]))
    assert len(found) > 2
    assert found.text.count("explain --places") == 1
    for place in PLACES:
        assert place.paths[-1].rpartition("/")[2] in found.places()
        assert place.forgotten in found.places()
        assert place.forgotten not in found.text
    assert "explain --places" not in tvmdbg.explain(CASES["graph-wrong-op"][0]).text


def _retyped(text: str) -> Iterator[str]:
    """The text with a blank more or less, other quote marks, and lines cut at many widths."""
    for blank in re.finditer(" ", text):
        for other in ("", "  ", "\t", "\u00a0"):
            yield text[: blank.start()] + other + text[blank.end() :]
    yield re.sub(r"'([^']*)'", "\u2018\\1\u2019", re.sub(r'"([^"]*)"', "\u201c\\1\u201d", text))
    yield from (text.replace(*each) for each in (("'", '"'), ('"', "'"), ("`", "'")))
    yield text.replace("\n", "\r\n")
    for width in range(60, 121, 4):
        yield "\n".join(textwrap.fill(each, width) for each in text.split("\n"))
        pieces = [
            each[at : at + width] for each in text.split("\n") for at in range(0, len(each), width)
        ]
        yield "\n".join(pieces)
        yield "\n".join(each.rstrip() for each in pieces)


@pytest.mark.parametrize(
    ("name", "text"),
    [each[::2] for each in ALL],
    ids=[f"{n}-{each[0]}" for n, each in enumerate(ALL)],
)
def test_whitespace_quotes_and_line_ends_do_not_change_the_message(name: str, text: str) -> None:
    for other in _retyped(text):
        found = tvmdbg.explain(f"something before\n{other}\nsomething after")
        assert [each.message.id for each in found] == [name], other


@pytest.mark.parametrize(
    "text",
    [
        "the keyboard is not supported",
        "we do not support keyword arguments",
        "an invalid format of json",
        "File was not found",
        "a backend that is not registered",
    ],
)
def test_prose_is_not_a_message(text: str) -> None:
    assert not tvmdbg.explain(text)


#: Lines of source code as logs hold them, each with the words of a message that is known.
PRINTED = r"""
@.str.4 = private constant [81 x i8] c"Assert fail: (0 == x), arg0.ndim is expected to equal 0\00"
  TVMAPISetLastError("Assert fail: (num_args == 3), fused_add: num_args should be 3");
    CHECK(reader->Next()) << "invalid json format";
      << "Can only take tvm_op as op";
  ICHECK_EQ(size, pending) << "Invalid DLTensor file format";
    LOG(FATAL) << "key " << key << " is not supported";
    raise RuntimeError("Cannot find any valid schedule for %s" % x)
    raise RuntimeError('Cannot find any valid schedule for %s' % x)
    raise ValueError(f"Unsupported distance metric 'COSINE'")
    assert T.tvm_struct_get(var_A, 0, 5, "uint8") == 2, "var_A.dtype is expected to be float32"
  assert((0 == tvm_struct_get(arg0, 0, 4)), "arg0.ndim is expected to equal 0")
	.asciz	"Assert fail: (num_args == 3), fused_add: num_args should be 3"
src/file_utils.cc:182:  ICHECK(header == kMagic) << "Invalid parameters file format";
static const char message[] = "fused_add: num_args should be 3";
        ET_LOG(Error, "Backend XnnpackBackend is not registered.");
  CHECK(size <= pending_request_bytes_);
  case RPCServerStatus::kUnknownTypeCode:
        _ffi_api._save_param_dict(params)
    logger.warning("Cannot find config for target=%s, workload=%s.", target, workload)
    throw std::runtime_error("Invalid DLTensor file format");
    raise RuntimeError(
        "Cannot get remote devices from the tracker. "
        "Please check the status of tracker by "
    )
"""


def test_source_code_in_a_log_is_not_a_message() -> None:
    found = tvmdbg.explain(PRINTED)
    assert not found
    assert not found.unknown
    (alone,) = tvmdbg.explain(f"{PRINTED}\nTVMError: Invalid DLTensor file format")
    assert (alone.line, alone.count) == (PRINTED.count("\n") + 2, 1)


@pytest.mark.parametrize(
    "text",
    [
        '"TVMError: {}"',
        "'TVMError: {}'",
        '{{"error": "{}", "status": 1}}',
        '{{"error":"{}"}}',
        'TVMError("{}")',
        "(RuntimeError('{}'),)",
        'time=12 level=error msg="{}"',
        "I don't know what it's: {}",
        "> {}",
        "**{}**",
        "`{}`",
        "terminate called, what():  {}",
        "it said \u201c{}\u201d.",
        '["a", "{}"]',
        '  "{}",',
        "11-24 09:35:11.099: I/ETLOG(3388): {}",
    ],
)
def test_message_in_quotes_is_found(text: str) -> None:
    (found,) = tvmdbg.explain(text.format("Invalid DLTensor file format"))
    assert found.message.id == "params-array"


@pytest.mark.parametrize(
    ("status", "said"),
    [
        ("failed with status 0x14", "0x14 is OperatorMissing"),
        ("failed with error code 20", "0x14 is OperatorMissing"),
        ("failed with status 0x20", "0x20 is NotFound"),
        ("failed with error code 32", "0x20 is NotFound"),
    ],
)
def test_status_code_is_shown_by_name(status: str, said: str) -> None:
    (found,) = tvmdbg.explain(f"Loading of method forward {status}")
    assert found.details[0].startswith(said)
    (found,) = tvmdbg.explain("Execution of method forward failed with status 0x7f")
    assert not found.details


@pytest.mark.parametrize("width", [*range(40, 133), 160, 200])
@pytest.mark.parametrize("blank_kept", [True, False])
def test_lines_that_a_terminal_cut_are_joined(width: int, blank_kept: bool) -> None:
    for text, said in ((CASES["argument-dtype"][1], NARROW_SAID), (WIDE, WIDE_SAID)):
        pieces = [text[at : at + width] for at in range(0, len(text), width)]
        if not blank_kept:
            pieces = [piece.rstrip() for piece in pieces]
            if all(len(piece) < width for piece in pieces):
                continue  # nothing tells the width, and so whether a blank is missing
        cut = "\n".join(pieces)
        found = tvmdbg.explain(f"before\n{cut}\nafter it")
        assert [(each.message.id, each.line, each.count) for each in found] == [
            ("argument-dtype", 2, 1)
        ]
        assert said in found[0].details
        assert not found.unknown


def test_whole_lines_of_one_length_are_not_joined() -> None:
    first = CASES["argument-dtype"][1]
    unknown = "Assert fail: (n == 4), the moon is full and so on and on and on"
    found = tvmdbg.explain(f"{first}\n{first.replace('arg0', 'arg1')}\n{unknown}\nafter it")
    assert [(each.facts["name"], each.line) for each in found] == [("arg0", 1), ("arg1", 2)]
    assert found.unknown == ((3, unknown),)


def test_unknown_assert_does_not_match_the_next_message() -> None:
    unknown = "Assert fail: (n == 4), the moon is full and so on and on and on"
    found = tvmdbg.explain(f"{unknown}\ninvalid json format")
    assert [(each.message.id, each.line) for each in found] == [("graph-invalid-entry", 2)]
    assert found.unknown == ((1, unknown),)


def test_a_condition_belongs_to_its_own_message_alone() -> None:
    later = "TVMError: arg1.dtype is expected to be int8"
    found = tvmdbg.explain(f"{CASES['argument-dtype'][1]}\n{later}")
    assert [each.line for each in found] == [1, 2]
    assert NARROW_SAID in found[0].details
    assert NARROW_SAID not in found[1].details


TRACEBACK = """Traceback (most recent call last):
  File "run.py", line 7, in <module>
    raise get_last_ffi_error()
tvm._ffi.base.TVMError: Traceback (most recent call last):
  3: TVMFuncCall
  File "/tvm/src/runtime/library_module.cc", line 80
TVMError:
---------------------------------------------------------------
An error occurred during the execution of TVM.
---------------------------------------------------------------
  Check failed: ret == 0 (-1 vs. 0) : {}
"""


def test_lines_around_a_known_error_are_not_called_unknown() -> None:
    found = tvmdbg.explain(TRACEBACK.format(CASES["argument-ndim"][0].removeprefix("TVMError: ")))
    assert [(each.message.id, each.line) for each in found] == [("argument-ndim", 11)]
    assert not found.unknown
    assert tvmdbg.explain(TRACEBACK.format("the moon")).unknown == (
        (11, "Check failed: ret == 0 (-1 vs. 0) : the moon"),
    )


def test_every_message_of_a_line_is_found() -> None:
    line = "do not support key a; do not support key b; invalid json format"
    found = tvmdbg.explain(line)
    assert sorted(each.facts.get("key", "") for each in found) == ["", "a", "b"]


def test_equal_messages_are_counted_and_different_ones_kept() -> None:
    one, other = CASES["argument-dtype"][:2]
    found = tvmdbg.explain("\n".join([one] * 500 + [other] * 2))
    assert [(each.line, each.count) for each in found] == [(1, 500), (501, 2)]
    assert "line 1, 500 times: " in found.text


def test_unrecognized_message_is_reported() -> None:
    found = tvmdbg.explain("all fine\nRuntimeError: the moon is full\n")
    assert not found
    assert found.text.startswith("no known message in 2 lines")
    assert found.unknown == ((2, "RuntimeError: the moon is full"),)
    assert tvmdbg.explain("").text == "no known message in 0 lines"


def test_output_contains_no_raw_control_characters_or_markup() -> None:
    evil = "\x1b(B\x1b[31m<script>alert(1)</script>\x1b]0;title\x07 "
    found = tvmdbg.explain(evil + CASES["graph-wrong-op"][0] + "\x9b31m\x00\u202e")
    assert found
    assert not set(repr(found)) & set("\x1b\x07\x9b\x00\u202e")
    assert "<script>" not in found._repr_html_()
    assert "\x1b" not in json.dumps(found.to_dataframe().to_dict("list"))


@given(st.text(max_size=400) | st.binary(max_size=400))
def test_explain_accepts_any_text(text: str | bytes) -> None:
    found = tvmdbg.explain(text)
    assert all(line.isprintable() for line in found.text.splitlines())


PIECES = [each.literal for each in MESSAGES]
PIECES += ["\n", "Assert fail: ", "arg0", "tvm_struct_get(arg0, 0, 5) == (uint8)2", "Mismatched A"]
PIECES += ["Error", "key ", "1 | 2 | 4", " | 8", "shape '[4", "\x1b[", "9" * 30, "x" * 130]


@given(st.lists(st.sampled_from(PIECES), max_size=60))
def test_explain_accepts_pieces_of_messages(pieces: list[str]) -> None:
    assert isinstance(tvmdbg.explain("".join(pieces)).text, str)


def test_patterns_are_linear() -> None:
    for each in MESSAGES:
        assert not re.search(r"\)[*+]|\}[*+{]|[*+]\)[*+{]", each.pattern), each.id
        for unit in (each.literal, "a", "a.", "`", " ", "1", "[0]"):
            each.regex.search(each.literal + unit * (100_000 // len(unit)))
            each.regex.search(unit * (100_000 // len(unit)) + each.literal + "!")


def _looked_at(text: str, monkeypatch: pytest.MonkeyPatch) -> int:
    """Return how many letters all patterns together were given to look at."""
    letters = 0

    class Counting:
        def __init__(self, regex: re.Pattern[str]) -> None:
            self.regex = regex

        def search(self, text: str, start: int, end: int) -> re.Match[str] | None:
            nonlocal letters
            match = self.regex.search(text, start, end)
            letters += (min(end, len(text)) if match is None else match.end()) - start
            return match

    with monkeypatch.context() as patch:
        for each in MESSAGES:
            patch.setitem(each.__dict__, "regex", Counting(re.compile(tolerant(each.pattern))))
        assert tvmdbg.explain(text).lines
    return letters


LITERALS = [each.literal for each in MESSAGES]


@pytest.mark.parametrize(
    "unit", [" ".join(LITERALS), "a" * 300 + "".join(LITERALS), "\n".join(LITERALS), *LITERALS]
)
def test_work_grows_linearly_with_the_text(unit: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A window looks at no letter often, so that twice the text is twice the work."""
    size = 20_000
    once, twice = (
        _looked_at(unit * (letters // len(unit)), monkeypatch) for letters in (size, 2 * size)
    )
    assert twice < 2.5 * once + 2_000
    assert once < 4 * sum(literal in unit for literal in LITERALS) * size


@pytest.mark.slow
@pytest.mark.parametrize("separator", [" ", "\n", "a" * 300, "", "x, "])
def test_megabyte_of_literals_takes_under_three_seconds(separator: str) -> None:
    unit = separator.join([*LITERALS, "Assert fail: ", "tvm_struct_get(a, 0, 5) == ", "Error"])
    text = unit * (1_000_000 // len(unit))
    began = time.process_time()
    assert tvmdbg.explain(text).text
    assert time.process_time() - began < 3


def test_the_page_lists_every_message() -> None:
    from make.messages_page import page

    assert (ROOT / "docs/messages.md").read_text("utf-8") == page()


def test_explanation_breaks_between_words() -> None:
    text = (tvmdbg.samples.changed_dtype / "log.txt").read_text("utf-8")
    found = tvmdbg.explain(text)
    assert max(map(len, repr(found).splitlines())) <= 100
    assert repr(found).splitlines()[0] == found.summary == "2 known messages in 9 lines"
    words = " ".join(repr(found).split())
    for each in found:
        assert " ".join(each.message.cause.split()) in words
        assert " ".join(each.text.split()) in words
    page = found._repr_html_()
    assert "<pre>" not in page
    assert page.count("<details") == len(found)
    assert "&amp;&amp;" in page
