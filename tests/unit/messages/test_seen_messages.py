"""explain on error texts as people paste them into issues, with what lies around them there.

Each is after an issue of apache/tvm, mlc-ai/mlc-llm, pytorch/executorch, pytorch/torchchat,
tlc-pack/tenset or mmperf/mmperf, with other names and paths.
"""

import html
import json
import re
import textwrap
from collections.abc import Iterator
from pathlib import Path

import pytest

import tvmdbg_widgets as tvmdbg

_ROWS = (Path(__file__).parent / "seen.tsv").read_text("utf-8").splitlines()
#: The ids that a text holds, the issue, the text.
SEEN = [tuple(row.split("\t", 2)) for row in _ROWS]
_SIGNS = {"\\\\": "\\", "\\n": "\n", "\\t": "\t"}


def _pasted(text: str) -> Iterator[str]:
    """The text as consoles, pages, logs and replies show it."""
    lines = text.split("\n")
    yield text
    for width in (72, 80, 100):
        folded = [part for line in lines for part in textwrap.wrap(line, width) or [""]]
        cut = [line[at : at + width] for line in lines for at in range(0, len(line), width)]
        yield from ("\n".join(folded), "\n".join(cut))
        yield "\n".join(f"> {each}" for each in folded)
    yield from (re.sub(r"(?<=\w) (?=\w)", "  ", text), re.sub(r"(?<=[,:]) ", "", text))
    yield from (text.replace(" ", blank) for blank in ("\t", "\u00a0"))
    yield from (f"```\n{text}\n```", f"`{text}`", f"Hello,\n\n{text}\n\nthank you", repr(text))
    yield from (html.escape(text), json.dumps({"level": "error", "message": text}))
    yield from (text.replace("'", "\u2019").replace('"', "\u201d"), text.replace("\n", "\r\n"))
    for head in ("E       ", "# ", "2024-05-01T10:00:00.1234567Z ", "[rank0]: ", "  \x1b[36;1m"):
        yield "\n".join(f"{head}{each}\x1b[0m" for each in lines)
    yield "\n".join(f"05-01 10:00:00.123  1234  5678 E ExecuTorch: {each}" for each in lines)
    yield re.sub(r"(\w+)", lambda word: f"\x1b[31m{word[1]}\x1b[0m", text, count=6)


@pytest.mark.parametrize(("ids", "text"), [each[::2] for each in SEEN], ids=[e[1] for e in SEEN])
def test_issue_messages_are_explained_in_any_pasted_form(ids: str, text: str) -> None:
    for pasted in _pasted(re.sub(r"\\[\\nt]", lambda sign: _SIGNS[sign[0]], text)):
        found = tvmdbg.explain(pasted)
        assert {each.message.id for each in found} == set(ids.split()), pasted


#: Constants of printed code, each beside no error that occurred.
CONSTANTS = (
    '@.str = constant [72 x i8] c"Assert fail: (num_args == 2), f: num_args should be 2\\00"',
    'TVMAPISetLastError("Assert fail: (num_args == 3), fused_add: num_args should be 3");',
    '    ET_LOG(Error, "KernelCall failed at instruction 0:1 in operator aten::add.out: 0x12");',
    '  TVM_FFI_ICHECK_EQ(a, b) << "TVMTensorCopyFromTo: The size in bytes must exactly match.";',
    '    raise RuntimeError("Cannot get remote devices from the tracker. ")',
    '    raise InstantiationError("Too large factor for unrolling")',
    '            assert x.dtype == y, "x.dtype is expected to be float32"',
    '#define MESSAGE "Backend XnnpackBackend is not registered."',
)


@pytest.mark.parametrize("line", CONSTANTS)
def test_constant_in_printed_code_is_not_a_message(line: str) -> None:
    for pasted in _pasted(line):
        found = tvmdbg.explain(pasted)
        assert not found, pasted


def test_unrelated_status_is_not_an_executorch_message() -> None:
    assert not tvmdbg.explain("The POST method failed with status 404; the program failed with 3")
