"""Files under the names that our texts give them, and the texts themselves."""

import ast
import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from random import Random

from tests.formats.rpc.rpc_cases import conversation
from tests.make import tuning_cases as make
from tests.unit.abi.source_trees import WIDE, tree
from tvmdbg_widgets import samples
from tvmdbg_widgets.formats.rpc.grammar import grammar

ROOT = Path(__file__).parents[3]
NETWORK = samples.resnet20_cifar / "_tvmdbg_device_CPU_0"
XNNPACK, BYTES = samples.executorch_xnnpack, samples.changed_dtype
TUNING = samples.ansor_starved / "tuning.json"
IR = (
    "%0 = type { ptr, %1, i32, %2, ptr, ptr, i64 }\n%1 = type { i32, i32 }\n"
    "%2 = type { i8, i8, i16 }\n"
)
#: Of task 2 of the sample.
DAG = (
    "A = PLACEHOLDER [128, 768]\nB = PLACEHOLDER [768, 3072]\n"
    "matmul(i, j) += (A[i, k]*B[k, j])\nC = PLACEHOLDER [128, 3072]\n"
    "out(i, j) = (matmul[i, j] + C[i, j])\n"
)
#: What each name of a text stands for.
STANDS_FOR = {
    **dict.fromkeys(
        ("tvmdbg", "dump", "before", "a", "plain", "DUMP", "mini"), samples.resnet20_cifar
    ),
    **dict.fromkeys(("tvmdbg_o0", "tvmdbg_o3"), samples.resnet20_cifar),
    **dict.fromkeys(("after", "b", "unfused"), samples.resnet20_cifar_fp16_overflow),
    **dict.fromkeys(("ansor.json", "rerun.json", "old.json", "new.json", "tuning.json"), TUNING),
    **dict.fromkeys(("monday.json", "tuesday.json", "a.json", "b.json", "LOG"), TUNING),
    **dict.fromkeys(("OLD", "NEW", "elsewhere.json"), TUNING),
    **dict.fromkeys(("net.params", "narrow.params"), BYTES / "narrow.params"),
    **dict.fromkeys(("wide.params", "in.params"), BYTES / "wide.params"),
    "session.pcap": BYTES / "session.pcap",
    "log.txt": BYTES / "log.txt",
    "dump.txt": BYTES / "dltensor.txt",
    "graph.json": samples.resnet20_cifar / "graph.json",
    "run.txt": samples.resnet20_cifar / "run_stdout.txt",
    "output_tensors.params": NETWORK / "output_tensors.params",
    **{each.name: each for each in XNNPACK.iterdir()},
}
REPORT = (
    '{"calls": [{"Name": {"string": "relu"}, "Device": {"string": "cpu0"}, '
    '"Duration (us)": {"microseconds": 12.5}, "Percent": {"percent": 100.0}, '
    '"Count": {"count": 1}}], "device_metrics": {}, "configuration": {}}'
)


def lay_out(folder: Path) -> Path:
    """Every file that a text of ours names, in one folder."""
    for name, original in STANDS_FOR.items():
        copy = shutil.copytree if original.is_dir() else shutil.copy
        copy(original, folder / name)
    tree(folder / "tvm", WIDE)
    (folder / "module.ll").write_text(IR)
    (folder / "dag.txt").write_text(DAG)
    (folder / "report.json").write_text(REPORT)
    (folder / "stdout.txt").write_text("Get 1 programs to measure:\n")
    (folder / "weights.json").write_text("[1, 1, 1, 1, 1, 1]")
    (folder / "time_list.json").write_text("[[1e-6]]")
    (folder / "workloads.py").write_text("from tvm import auto_scheduler\n")
    (folder / "autotvm.log").write_bytes(make.autotvm(Random(2), version=0.2).line + b"\n")
    client, server = conversation(grammar("v0.8"))
    for name, sent in (("c.bin", client), ("client.bin", client)):
        (folder / name).write_bytes(sent)
    for name, sent in (("s.bin", server), ("server.bin", server)):
        (folder / name).write_bytes(sent)
    database = folder / "work_dir"
    database.mkdir()
    record = make.metaschedule(Random(4), 0).line
    (database / "database_tuning_record.json").write_bytes(record + b"\n")
    return folder


def strings_of(source: str) -> Iterator[tuple[str, bool]]:
    """Every string of a module, with ``…`` for what is put in, and whether it is a docstring."""
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    docs, pieces = set(), set()
    for each in ast.walk(ast.parse(source)):  # what holds a string comes before it
        if isinstance(each, documented) and each.body and isinstance(each.body[0], ast.Expr):
            docs.add(id(each.body[0].value))
        elif isinstance(each, ast.JoinedStr):
            pieces |= {id(part) for part in each.values}
            parts = (p.value if isinstance(p, ast.Constant) else "…" for p in each.values)
            yield "".join(map(str, parts)), False
        elif isinstance(each, ast.Constant) and isinstance(each.value, str):
            yield from [(each.value, id(each) in docs)] * (id(each) not in pieces)


def texts() -> Iterator[tuple[str, str, str]]:
    """Where each text of ours stands, what kind it is, and the text."""
    for path in sorted((ROOT / "tvmdbg_widgets").rglob("*.py")):
        for text, is_doc in strings_of(path.read_text("utf-8")):
            yield str(path.relative_to(ROOT)), "docstring" if is_doc else "string", text
    pages = [*ROOT.glob("README*.md"), ROOT / "CONTRIBUTING.md", *(ROOT / "docs").glob("*.md")]
    for path in sorted(pages):
        yield path.name, "page", path.read_text("utf-8")
    for path in sorted((ROOT / "notebooks").glob("*.ipynb")):
        cells = json.loads(path.read_text("utf-8"))["cells"]
        told = ("".join(each["source"]) for each in cells if each["cell_type"] == "markdown")
        yield path.name, "page", "\n\n".join(told)
    for path in sorted((ROOT / "js/src").rglob("*.ts")):
        if ".test." not in path.name:
            for text in re.findall(r'"[^"\n]*"|`[^`]*`', path.read_text("utf-8")):
                yield path.name, "script", re.sub(r"\$\{[^{}]*\}", "…", text[1:-1])
