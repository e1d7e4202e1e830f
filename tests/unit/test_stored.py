"""A page answers as the kernel does, carries no more than it says, and keeps its budget."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from conftest import HERE, corpus_path
from hypothesis import given, settings
from unit.stored_questions import PARTS, differences, questions, told

import tvmdbg_widgets as tvmdbg
from tvmdbg_widgets.export.page.stored import store

if TYPE_CHECKING:
    from pathlib import Path

CORPUS = corpus_path()
EDGES = "dtypes bf16 nan_inf vec4 scalar0 zero_size params_zoo odd_names split_multi hetero_copy"
REAL = [f"tvm/edge_cases/v0.19/{name}" for name in EDGES.split()] + [
    "relax/dtypes/params_all.bin",
    "tvm/resnet20_cifar_int8",
    "tvm/resnet20_cifar_fp16_overflow",
    "tvm/resnet20_cifar_v0.6",
    "tvm/resnet20_two_devices",
    "tvm/transformer_encoder",
]
DATA = [HERE / "data/params/zoo/zoo.params", HERE / "data/params/relax/params_all.bin"]
PATHS = DATA + ([] if CORPUS is None else [CORPUS / each for each in REAL])
ALL = 200_000_000

each_run = pytest.mark.parametrize("path", PATHS, ids=lambda path: path.name)


@each_run
def test_a_page_with_all_values_answers_as_the_kernel(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(path.parent)  # a path that begins here holds nothing to take out
    run = tvmdbg.open(path.name)
    stored = store(run, budget=ALL, share="tensors", parameters=True)
    asked: list[tuple[Any, dict[str, Any]]] = [(None, {"error": True})]

    @settings(max_examples=150)
    @given(questions(run))
    def collect(question: Any) -> None:
        asked.append((question, told(run, question)))

    collect()
    asked += [({"kind": kind}, told(run, {"kind": kind})) for kind in PARTS]
    nodes = range(run.graph.num_nodes) if run.graph is not None else ()
    asked += [(each := {"kind": "node", "node": node}, told(run, each)) for node in nodes]
    assert differences(tmp_path, stored, asked) == []
    assert sum("error" not in expected for _, expected in asked) > len(asked) / 2
