"""The examples of ExecuTorch's page "Delegate Debugging", and of ours, run as they are written.

docs/source/delegate-debugging.md @ v1.4.1.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import fields
from inspect import signature
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.executorch_cases import case_dir
from tvmdbg_widgets.analysis.findings import executorch
from tvmdbg_widgets.executorch import (
    DebugHandleMap,
    DelegateMappingBuilder,
    EventTracer,
    Inspector,
    PreprocessResult,
)

PAGE = Path(__file__).parents[3] / "docs/executorch.md"
CASE = case_dir("06b_demo_manual_ids")


class Node:
    """What the builder wants of a node of torch.fx."""

    def __init__(self, handle: int) -> None:
        self.meta = {"debug_handle": handle}


def test_first_example_maps_of_page() -> None:
    builder = DelegateMappingBuilder(generated_identifiers=True)
    builder.insert_delegate_mapping_entry(nodes=[Node(10), Node(11)])
    builder.insert_delegate_mapping_entry(handles=[11, 12])
    assert builder.get_delegate_mapping() == {0: (10, 11), 1: (11, 12)}
    builder = DelegateMappingBuilder(generated_identifiers=False)
    returned = builder.insert_delegate_mapping_entry(
        handles=[11, 12, 15], identifier="fused_op_1_2_3"
    )
    assert returned == "fused_op_1_2_3"
    assert builder.get_delegate_mapping() == {"fused_op_1_2_3": (11, 12, 15)}


def test_demo_backend_linked_from_page() -> None:
    """exir/backend/test/backend_with_delegate_mapping_demo.py: a fusion and a decomposition."""
    conv, relu, tan = Node(1), Node(2), Node(3)
    builder = DelegateMappingBuilder(generated_identifiers=True)
    assert builder.insert_delegate_mapping_entry([conv, relu]) == 0
    assert [builder.insert_delegate_mapping_entry(tan) for _ in range(3)] == [1, 2, 3]
    result = PreprocessResult(
        processed_bytes=bytes("4#conv_relu_op,0,", encoding="utf8"),
        debug_handle_map=builder.get_delegate_mapping(),
    )
    assert result.debug_handle_map == {0: (1, 2), 1: (3,), 2: (3,), 3: (3,)}
    assert len(DebugHandleMap(result)) == 4


@pytest.mark.parametrize(
    ("call", "parameters"),
    [
        (DelegateMappingBuilder.insert_delegate_mapping_entry, ["nodes", "handles", "identifier"]),
        (DelegateMappingBuilder.get_delegate_mapping, []),
        (EventTracer.start_profiling_delegate, ["name", "delegate_debug_id"]),
        (EventTracer.end_profiling_delegate, ["event_tracer_entry", "metadata"]),
        (
            EventTracer.log_profiling_delegate,
            ["name", "delegate_debug_id", "start_time", "end_time", "metadata"],
        ),
    ],
)
def test_calls_have_documented_parameters(call: Callable[..., Any], parameters: list[str]) -> None:
    """But for the tracer itself, and the length of what is bytes in Python."""
    assert list(signature(call).parameters) == ["self", *parameters]


def test_preprocess_result_has_documented_fields() -> None:
    names = [each.name for each in fields(PreprocessResult)]
    assert names[:2] == ["processed_bytes", "debug_handle_map"]
    assert PreprocessResult() == PreprocessResult(b"", None)


def parse_delegate_metadata(delegate_metadatas: list[bytes]) -> list[str]:
    """The page's parser, word for word: it adds up the characters."""
    metadata_str: list[str] = []
    for metadata_bytes in delegate_metadatas:
        metadata_str += str(metadata_bytes)
    return metadata_str


def test_inspector_is_created_as_documented() -> None:
    etdump_path, etrecord_path = str(CASE / "etdump.etdp"), str(CASE / "etrecord.bin")
    buffer_path = str(CASE / "debug_buffer.bin")
    parser: Any = parse_delegate_metadata  # takes bytes alone, and is given "" as well
    inspector = Inspector(
        etdump_path=etdump_path,
        # Optional
        etrecord=etrecord_path,
        # Optional, only needed if debugging was enabled.
        buffer_path=buffer_path,
        delegate_metadata_parser=parser,
    )
    events = {each.name: each for block in inspector.event_blocks for each in block.events}
    parsed = events["tan_0::sin"].delegate_debug_metadatas
    assert parsed == list(r"b'\x01\x00\xff\x80\x02'")
    assert isinstance(events["relu_0"].debug_data[0], np.ndarray)


@pytest.fixture(scope="module")
def ours() -> dict[str, Any]:
    """What our page's examples leave behind, run one after the other."""
    names: dict[str, Any] = {}
    for code in re.findall(r"```python\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL):
        exec(compile(code, PAGE.name, "exec"), names)  # noqa: S102 (our own page)
    return names


def test_our_page_runs(ours: dict[str, Any]) -> None:
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


def test_our_page_has_every_call_of_a_tracer() -> None:
    rows = re.findall(
        r"^\| `(event_tracer_\w+|\w+)[:(].*? \| `(.*)` \|$", PAGE.read_text(), re.MULTILINE
    )
    called = {name for _, python in rows for name in re.findall(r"tracer\.(\w+)\(", python)}
    own = {name for name in vars(EventTracer) if not name.startswith("_")}
    other_forms = {"profiling_delegate", "start_profiling", "end_profiling"}
    assert own - other_forms <= called
    assert all(callable(getattr(EventTracer, name)) for name in called)


def test_cases_named_on_our_page_exist() -> None:
    table = PAGE.read_text("utf-8").partition("## The Inspector")[2].partition("\n## ")[0]
    named = set(re.findall(r"`(\d\d\w*)`", table))
    assert len(named) > 12
    assert all(case_dir(name).is_dir() for name in named)


def test_our_page_has_every_rule() -> None:
    rules = Path(executorch.__file__).parent.glob("*.py")
    text = " ".join(path.read_text("utf-8") for path in rules)
    names = re.findall(r'^[A-Z_]+_NAME = "([\w-]+)"$', text, re.MULTILINE)
    assert len(names) > 8
    told = PAGE.read_text("utf-8").partition("## Findings")[2].partition("\n## ")[0]
    assert set(re.findall(r"`([\w-]+)`", told)) == set(names)
