"""DelegateMappingBuilder against every call that ExecuTorch's own was asked."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import Any

import pytest
from executorch_cases import read_json

from tvmdbg_widgets.recorders.event_tracer import (
    DelegateMappingBuilder,
    DelegateMappingError,
    PreprocessResult,
)

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


NODES = {
    "n0": Node({"debug_handle": 10}),
    "n1": Node({"debug_handle": 11}),
    "n2": Node({"debug_handle": 12}),
    "n3": Node(),
    "n4": Node({"debug_handle": None}),
}


def argument(text: str) -> Any:
    """What a recorded argument was: a literal, or nodes by their names."""
    try:
        return ast.literal_eval(text)
    except ValueError:
        names = text.strip("[]()").split(", ")
        found = [NODES[name] for name in names]
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


def test_mapping_error_is_caught_as_exception() -> None:
    assert issubclass(DelegateMappingError, Exception)
    with pytest.raises(Exception, match="No identifier provided"):
        DelegateMappingBuilder().insert_delegate_mapping_entry(handles=1)


def test_a_result_has_the_fields_in_executorchs_order() -> None:
    assert PreprocessResult() == PreprocessResult(b"", None, None, None)
    assert PreprocessResult(b"x", {0: (1,)}).debug_handle_map == {0: (1,)}
