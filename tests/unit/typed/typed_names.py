"""What the names in our texts stand for: small runs, logs, views and values."""

import builtins
import functools
import importlib
import shutil
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import bokeh.embed
import bokeh.resources
import numpy as np
from IPython.display import display

import tvmdbg_widgets as tvmdbg
from tests.formats.tuning.test_outputs import OLD_TABLE
from tests.make.params import write_params
from tests.unit.typed.typed_files import IR, ROOT
from tests.unit.typed.typed_lines import Space

_EXECUTORCH: Any = tvmdbg.executorch
#: What ExecuTorch's print_delegation_info prints, and TVM of a DAG.
COUNTS = "Total delegated subgraphs: 2\nNumber of delegated nodes: 4\n"
DAG = "A = PLACEHOLDER [4, 8]\nB = PLACEHOLDER [8, 2]\nC(i, j) += (A[i, k]*B[k, j])\n"
_MODULES = ("os", "logging", "json", "pathlib")


@functools.wraps(tvmdbg.open)
def _open(*given: Any, **named: Any) -> Any:
    """What ``open`` is in a text: ours, or Python's where something is written."""
    return (builtins.open if "w" in given else tvmdbg.open)(*given, **named)


def _values(folder: Path) -> Space:
    """Names of files, of numbers and of what others' functions give."""
    dump, graph = Path("dump.txt").read_text("utf-8"), Path("graph.json").read_text("utf-8")
    lib = SimpleNamespace(get_source=lambda _: IR, get_graph_json=lambda: graph)
    return {
        **{name: importlib.import_module(name) for name in _MODULES},
        "numpy": np,
        "np": np,
        "bokeh": bokeh,
        "Path": Path,
        "display": display,
        "lib": lib,
        "x": [[1.0]],
        "value": [[1.0]],
        "array": np.zeros(3),
        "mask": np.ones(3, bool),
        "blob": b"blob",
        "start": 4_100,
        "end": 4_300,
        "metadata": b"{}",
        "instruction": 3,
        "chain": 0,
        "mapping": {0: (2, 3)},
        "method": "forward",
        "conv_relu": list,
        "memory": bytes(72),
        "data": Path("net.params").read_bytes(),
        "path": "net.params",
        "folder": "cache",
        "etdump": "etdump.etdp",
        "etrecord": "etrecord.bin",
        "THIS_FOLDER": "plain",
        "debug_buffer": "debug_buffer.bin",
        "capture": "session.pcap",
        "open": _open,
        "client": "client.bin",
        "server": "server.bin",
        "text": graph,
        "target": "llvm",
        "pasted": dump,
        "pasted_from_gdb": dump,
        "console_output": dump,
        "query": "op:conv",
        "name": "data",
        "by": "kind",
        "index": 0,
        "i": 38,
        "key": 38,
        "id": 3,
        "task": 3,
        "k": 2,
        "kept": folder / "kept",
        "new": folder / "new",
    }


def typed_names(folder: Path) -> list[Space]:
    """Names as our texts use them, several times: a line is right that runs with one of them."""
    write_params(folder / "packed.params", {"x": np.zeros((1, 2, 2, 2, 8), "float32")})
    shutil.copytree(ROOT / "tests/data/params/cache/raw", folder / "cache")
    (folder / "two.txt").write_text(2 * Path("run.txt").read_text("utf-8"), "utf-8")
    opened: Any = tvmdbg.open
    xnnpack = opened(tvmdbg.samples.executorch_xnnpack)
    xnnpack.inspector.to_dataframe().to_csv(folder / "events.csv")
    (folder / "delegation.txt").write_text(COUNTS, "utf-8")
    delegated = opened("delegation.txt")
    a, b = opened("plain", report="report.json"), opened("unfused")
    program = opened(tvmdbg.samples.executorch_demo_delegate)
    log: Any = tvmdbg.open_tuning("ansor.json")
    wire, console = tvmdbg.open_rpc("session.pcap"), tvmdbg.open_tuning(OLD_TABLE.encode())
    times, view, record = (
        tvmdbg.compare_times(a, b),
        tvmdbg.GraphView(a),
        program.inspector.etrecord,
    )
    view.hide("op:reshape")
    nodes = {node.name: node for node in record.edge_programs["forward"].nodes}
    tracer = _EXECUTORCH.EventTracer()
    events = ExitStack()  # stays open with the names
    for each in (tracer.event_block("Execute"), tracer.instruction(0), tracer.profiling("CALL")):
        events.enter_context(each)
    figure, values = tvmdbg.plots.times(a), _values(folder)
    both: Space = {
        **{name: getattr(tvmdbg, name) for name in tvmdbg.__all__ if name != "__version__"},
        **{name: getattr(_EXECUTORCH, name) for name in _EXECUTORCH.__all__},
        "tvmdbg": tvmdbg,
        "tvmdbg_widgets": tvmdbg,
        "link": tvmdbg.plots.link,
        **values,
        "a": a,
        "b": b,
        "plain": a,
        "unfused": b,
        "other": b,
        "other_run": b,
        "log": log,
        "session": a.session,
        "graph": a.graph,
        "groups": a.groups,
        "timeline": a.timeline,
        "change": times,
        "times": times,
        "comparison": tvmdbg.compare(a, b),
        "view": view,
        "matching": a.match(b),
        "debugger": a.debugger(),
        "tensor": a.tensors[38, 0],
        "rerun": log.reuse(),
        "schedule": log.schedule(log.best(2)),
        "figure": figure,
        "plot": SimpleNamespace(figure=figure),
        "psnr": [30.0] * len(a.graph.names),
        "program": program,
        "inspector": program.inspector,
        "record": record,
        "conv": nodes["aten_mul_tensor"],
        "relu": nodes["aten_relu_default"],
        "builder": _EXECUTORCH.DelegateMappingBuilder(),
        "tracer": tracer,
        "events": events,
        "delegation": delegated.delegation,
        "entry": tracer.start_profiling_delegate("relu_0"),
    }
    executor = SimpleNamespace(get_executor=lambda: ThreadPoolExecutor(1))
    new = {"path": values["new"], "folder": values["kept"], "client": executor}
    twice = opened(ROOT / "tests/data/executorch/05_multirun")
    packed = opened("packed.params").tensors["x"]
    return [
        {**both, "run": a, **new},
        {**both, "run": xnnpack, "text": DAG},
        {**both, "run": delegated},
        {**both, "run": times.run, "log": wire, "tensor": packed},
        {**both, "run": program, "other": log, "view": log.view(), "open": builtins.open},
        {**both, "run": twice, "folder": "plain", "figure": a.figure("graph"), "log": console},
        {
            **both,
            "run": opened("two.txt"),
            "figure": tvmdbg.plots.compare_times(a, b),
            "tracer": _EXECUTORCH.EventTracer(),
            "record": log.best(2),
            "view": tvmdbg.ComparisonView(a, b),
        },
    ]
