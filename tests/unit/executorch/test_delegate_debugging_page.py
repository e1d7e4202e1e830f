"""ExecuTorch's page "Delegate Debugging" and ours run as written; maps are as ExecuTorch builds.

docs/source/delegate-debugging.md @ v1.4.1.
"""

import ast
import re
from collections.abc import Callable
from dataclasses import dataclass, field, fields
from inspect import signature
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.executorch_cases import case_dir, read_json
from tvmdbg_widgets.analysis.findings import executorch
from tvmdbg_widgets.executorch import (
    DebugHandleMap,
    DelegateMappingBuilder,
    EventTracer,
    Inspector,
    PreprocessResult,
)
from tvmdbg_widgets.recorders.event_tracer import DelegateMappingError

DOCS = Path(__file__).parents[3] / "docs"
PAGE = DOCS / "delegates.md"
CASE = case_dir("06b_demo_manual_ids")
CASES: dict[str, Any] = read_json("mapping_builder.json")
GENERATED = {
    "duplicate_handles_collapse_and_sort",
    "generated_basic",
    "generated_with_identifier",
    "handle_zero_kept",
    "neither_generated_does_not_consume_id",
    "no_valid_handles_generated_CONSUMES_an_id",
    "node_debug_handle_tuple",
    "node_tuple_not_list",
    "some_missing_are_skipped",
}


@dataclass
class Node:
    meta: dict[str, Any] = field(default_factory=dict)


NODES = {f"n{at}": Node({"debug_handle": handle}) for at, handle in enumerate((10, 11, 12))}
NODES |= {"n3": Node(), "n4": Node({"debug_handle": None})}


def argument(text: str) -> Any:
    """What a recorded argument was: a literal, or nodes by their names."""
    try:
        return ast.literal_eval(text)
    except ValueError:
        found = [NODES[name] for name in text.strip("[]()").split(", ")]
    if text.startswith("["):
        return found
    return tuple(found) if text.startswith("(") else found[0]


@pytest.mark.parametrize("name", CASES)
def test_every_recorded_call_returns_recorded_result(name: str) -> None:
    case = CASES[name]
    builder = DelegateMappingBuilder(True) if name in GENERATED else DelegateMappingBuilder()
    for call, expected in zip(case["calls"], case["results"], strict=True):
        arguments = {key: argument(text) for key, text in call.items()}
        try:
            answer = {"returned": builder.insert_delegate_mapping_entry(**arguments)}
        except DelegateMappingError as error:
            answer = {"raised": f"Exception: {error}"}
        except AttributeError as error:
            answer = {"raised": f"AttributeError: {error}"}
        assert answer == expected
    mapping = builder.get_delegate_mapping()
    assert repr(mapping) == case["mapping"]
    assert repr(builder).startswith(f"DelegateMappingBuilder({len(mapping)} identifier")


def test_examples_of_page_and_of_demo_backend_linked_from_it() -> None:
    """exir/backend/test/backend_with_delegate_mapping_demo.py: a fusion and a decomposition."""
    n0, n1, n2 = (NODES[name] for name in ("n0", "n1", "n2"))
    named = DelegateMappingBuilder(generated_identifiers=False)
    fused: dict[str, Any] = {"handles": [11, 12, 15], "identifier": "fused_op_1_2_3"}
    assert named.insert_delegate_mapping_entry(**fused) == "fused_op_1_2_3"
    assert named.get_delegate_mapping() == {"fused_op_1_2_3": (11, 12, 15)}
    builder = DelegateMappingBuilder(generated_identifiers=True)
    assert builder.insert_delegate_mapping_entry(nodes=[n0, n1]) == 0
    assert [builder.insert_delegate_mapping_entry(n2) for _ in range(3)] == [1, 2, 3]
    assert builder.insert_delegate_mapping_entry(handles=[11, 12]) == 4
    result = PreprocessResult(
        processed_bytes=bytes("4#conv_relu_op,0,", encoding="utf8"),
        debug_handle_map=builder.get_delegate_mapping(),
    )
    assert result.debug_handle_map == {0: (10, 11), 1: (12,), 2: (12,), 3: (12,), 4: (11, 12)}
    assert len(DebugHandleMap(result)) == 5
    assert [each.name for each in fields(result)][:2] == ["processed_bytes", "debug_handle_map"]
    assert PreprocessResult() == PreprocessResult(b"", None, None, None)
    assert PreprocessResult(b"x", {0: (1,)}).debug_handle_map == {0: (1,)}


LOGGED = ["name", "delegate_debug_id", "start_time", "end_time", "metadata"]


@pytest.mark.parametrize(
    ("call", "parameters"),
    [
        (DelegateMappingBuilder.insert_delegate_mapping_entry, ["nodes", "handles", "identifier"]),
        (DelegateMappingBuilder.get_delegate_mapping, []),
        (EventTracer.start_profiling_delegate, ["name", "delegate_debug_id"]),
        (EventTracer.end_profiling_delegate, ["event_tracer_entry", "metadata"]),
        (EventTracer.log_profiling_delegate, LOGGED),
    ],
)
def test_calls_have_documented_parameters(call: Callable[..., Any], parameters: list[str]) -> None:
    """But for the tracer itself, and the length of what is bytes in Python."""
    assert list(signature(call).parameters) == ["self", *parameters]


def parse_delegate_metadata(delegate_metadatas: list[bytes]) -> list[str]:
    """The page's parser, word for word: it adds up the characters."""
    metadata_str: list[str] = []
    for metadata_bytes in delegate_metadatas:
        metadata_str += str(metadata_bytes)
    return metadata_str


def test_inspector_is_created_as_documented() -> None:
    parser: Any = parse_delegate_metadata  # takes bytes alone, and is given "" as well
    inspector = Inspector(
        etdump_path=str(CASE / "etdump.etdp"),
        # Optional
        etrecord=str(CASE / "etrecord.bin"),
        # Optional, only needed if debugging was enabled.
        buffer_path=str(CASE / "debug_buffer.bin"),
        delegate_metadata_parser=parser,
    )
    events = {each.name: each for block in inspector.event_blocks for each in block.events}
    parsed = events["tan_0::sin"].delegate_debug_metadatas
    assert parsed == list(r"b'\x01\x00\xff\x80\x02'")
    assert isinstance(events["relu_0"].debug_data[0], np.ndarray)


def test_our_page_runs() -> None:
    ours: dict[str, Any] = {}
    for code in re.findall(r"```python\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL):
        exec(compile(code, PAGE.name, "exec"), ours)  # noqa: S102 (our own page)
    assert ours["generated"] == {0: (2, 3), 1: (4,)}
    assert ours["handle_map"].uncovered == ()
    recorded = ours["record"].delegate_map["forward"]["2"].identifiers
    assert dict(ours["handle_map"]) == recorded
    read = ours["Inspector"](etdump_data=ours["dump"], etrecord=ours["record"])
    events = {each.name: each for each in read.event_blocks[0].events}
    assert events["relu_0"].op_types == ["aten.relu.default"]
    assert events["relu_0"].delegate_debug_metadatas == [b'{"kernel": "relu_v3"}']
    assert events["tan_0::sin"].start_time == [4_100]
    assert ours["parse_delegate_metadata"]([b"ab", b"c"]) == ["b'ab'", "b'c'"]


def section(page: str, name: str) -> str:
    return (DOCS / page).read_text("utf-8").partition(f"## {name}")[2].partition("\n## ")[0]


def test_our_page_has_every_call_of_a_tracer_case_and_rule() -> None:
    row = r"^\| `(event_tracer_\w+|\w+)[:(].*? \| `(.*)` \|$"
    rows = re.findall(row, PAGE.read_text("utf-8"), re.MULTILINE)
    called = {name for _, python in rows for name in re.findall(r"tracer\.(\w+)\(", python)}
    own = {name for name in vars(EventTracer) if not name.startswith("_")}
    assert own - {"profiling_delegate", "start_profiling", "end_profiling"} <= called
    assert all(callable(getattr(EventTracer, name)) for name in called)
    named = set(re.findall(r"`(\d\d\w*)`", section("inspector.md", "Where the answers differ")))
    assert len(named) > 12
    assert all(case_dir(name).is_dir() for name in named)
    rules = Path(executorch.__file__).parent.glob("*.py")
    text = " ".join(path.read_text("utf-8") for path in rules)
    names = re.findall(r'^@rule\("([\w-]+)"', text, re.MULTILINE)
    assert len(names) > 8
    assert set(re.findall(r"`([\w-]+)`", section("executorch.md", "Findings"))) == set(names)
