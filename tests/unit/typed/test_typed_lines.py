"""Every line of Python that a text of ours tells a user to type means something.

A line of ours is run on small runs and logs. One of somebody else's interface must be in CHECKED.
"""

import ast
import builtins
import functools
import importlib
import inspect
import re
import shutil
import tomllib
from collections.abc import Container, Iterator

import pytest
from ipywidgets import Widget

import tvmdbg_widgets as tvmdbg
from tests.unit.typed.typed_files import ROOT, lay_out, texts
from tests.unit.typed.typed_lines import (
    Space,
    blocks,
    chains,
    names_of,
    parsed,
    problem,
    takes_anything,
)
from tests.unit.typed.typed_names import typed_names
from tvmdbg_widgets.analysis.known_messages import MESSAGES
from tvmdbg_widgets.tuning.following import Follower

#: What others' functions and their keywords were checked against, by hand: a file and a release.
#: Those @ v0.8 are of public copies of TVM before v0.20, whose tags could not be told.
CHECKED = {
    "python/tvm/auto_scheduler/measure.py @ v0.8": (
        "auto_scheduler.LocalRunner(timeout, repeat, min_repeat_ms)"
        " auto_scheduler.LocalRPCMeasureContext(timeout)"
    ),
    "python/tvm/auto_scheduler/search_task.py @ v0.8": (
        "auto_scheduler.TuningOptions(num_measure_trials, builder, verbose) task.apply_best"
        " auto_scheduler.SearchTask(workload_key, target, hardware_params, layout_rewrite_option)"
        " task.target measured.task.workload_key measured.task.target"
        " measured.task.hardware_params measured.task.layout_rewrite_option"
    ),
    "python/tvm/auto_scheduler/measure_record.py @ v0.8": (
        "load_record_from_string load_best_record measured.state"
    ),
    "python/tvm/auto_scheduler/compute_dag.py @ v0.8": (
        "task.compute_dag task.compute_dag.infer_bound_from_state"
        " task.compute_dag.apply_steps_from_state(layout_rewrite)"
    ),
    "python/tvm/auto_scheduler/task_scheduler.py @ v0.8": (
        "auto_scheduler.TaskScheduler(load_log_file)"
    ),
    "python/tvm/auto_scheduler/relay_integration.py @ v0.8": (
        "auto_scheduler.extract_tasks extract_tasks(dump_workload_to_dag_log)"
    ),
    "python/tvm/autotvm/measure/measure_methods.py @ v0.8": (
        "autotvm.LocalBuilder autotvm.LocalRunner(timeout, repeat, min_repeat_ms)"
    ),
    "python/tvm/autotvm/measure/measure.py @ v0.8": "autotvm.measure_option",
    "python/tvm/autotvm/{record,tuner/tuner,task/dispatcher}.py @ v0.8": (
        "autotvm.apply_history_best tvm.autotvm.apply_history_best tuner.load_history"
        " autotvm.record.load_from_file"
    ),
    "python/tvm/contrib/popen_pool.py, meta_schedule/utils.py @ v0.8": "mp.cpu_count cpu_count",
    "tvm/s_tir/meta_schedule @ apache-tvm 0.27": (
        "ms.builder.LocalBuilder(max_workers, timeout_sec)"
        " ms.runner.LocalRunner(timeout_sec, evaluator_config)"
        " ms.runner.EvaluatorConfig(repeat, min_repeat_ms)"
        " ms.tune_tir(max_trials_global, builder, runner)"
    ),
    "tvm/s_tir/dlight, tvm/s_tir/schedule @ apache-tvm 0.27": (
        "dlight.ApplyDefaultSchedule dlight.gpu.Fallback sch.bind sch.get_loops bind"
    ),
    "tvm/runtime/_tensor.py, tvm/rpc/client.py, tvm/support.py @ apache-tvm 0.27": (
        "tvm.runtime.tensor(device) tvm.cuda cuda tvm.rpc.connect(key)"
        " rpc.connect(session_timeout) remote.cpu remote.upload remote.load_module"
        " tvm.runtime.save_param_dict"
        " tvm.support.libinfo tvm.__version__ tvm_ffi.__version__ array.device array.dtype"
        " array.shape each.device module.get_function module.script vm.set_instrument"
        " tvm.get_global_func(allow_missing) tvm.runtime.load_module tvm.cpu"
    ),
    "python/tvm/runtime/{ndarray,module}.py, _ffi/libinfo.py @ v0.8; ndarray.py @ v0.6": (
        "tvm.nd.array(device) array.copy array.ctx array.strides module.get_source lib.get_source"
        " tvm._ffi.libinfo.find_lib_path tvm.build tvm.lower(simple_mode)"
    ),
    "python/tvm/contrib/debugger/debug_executor.py, runtime/profiling @ v0.8": (
        "debug_executor.create(dump_root) create GraphModuleDebug GraphModuleDebug.run"
        " m.run(number, repeat) run(number, repeat, min_repeat_ms) m.profile m.profile.json profile"
        " profile.json json report.json report.csv report.table table(aggregate) exit"
        " module.set_input set_input"
        " m.set_input m.load_params tvm.contrib.debugger.debug_executor"
        " tvm.contrib.debugger.debug_executor.GraphModuleDebug"
    ),
    "python/tvm/contrib/debugger/debug_runtime.py @ v0.6": (
        "debug_runtime.create(dump_root) tvm.contrib.debugger.debug_runtime graph.json"
    ),
    "python/tvm/relay/{build_module,backend/executor_factory}.py, graph_executor.py @ v0.8": (
        "relay.build(target, params, executor) relay.backend.Executor relay.save_param_dict tvm"
        " tvm.relay tvm.transform.PassContext(opt_level) lib lib.get_graph_json lib.get_params"
        " lib.graph_json lib.lib lib.module graph_executor.GraphModule"
    ),
    "python/tvm/runtime/relax_vm.py @ v0.16": (
        "relax.VirtualMachine(profile) relax.VirtualMachine.profile"
    ),
    "executorch/runtime/__init__.py @ 1.5.1": (
        "executorch.runtime.Runtime.get.backend_registry.registered_backend_names"
        " executorch.runtime.Runtime.get.operator_registry.operator_names"
        " write_etdump_result_to_file"
    ),
    "executorch/devtools/etrecord/_etrecord.py @ 1.5.1": (
        "etrecord.update_reference_outputs ETRecord.save"
    ),
    "executorch/devtools/backend_debug/delegation_info.py @ 1.5.1": "print_delegation_info",
    "executorch/runtime/core/{event_tracer_hooks,event_tracer_hooks_delegate}.h @ 1.0.0": (
        "event_tracer_start_profiling_delegate event_tracer_end_profiling_delegate"
        " event_tracer_log_profiling_delegate event_tracer_log_output_delegate"
        " event_tracer_create_event_block event_tracer_log_evalue event_tracer_log_evalue_output"
        " EventTracerProfileInstructionScope EventTracerProfileOpScope get_etdump_data"
    ),
    "torch, as the examples of executorch @ 1.5.1 call it": (
        "torch.export.export(dynamic_shapes) torch.export.Dim(max) tensor.contiguous tensor.dim"
        " tensor.shape tensor.dtype"
    ),
}
#: Names with brackets that nobody is told to type: reprs, headings, and what other code calls.
NOT_TYPED = {
    *("DebugBuffer", "Duration", "Program", "_"),
    *("HardwareParams", "LogModel", "RunModel", "TorchTensor", "DelegateMappingBuilder(…, …)"),
    *(
        "Time",
        "Measurements",
        "I.Op",
        "RECORD.replace",
        "http",
        "read",
        "f",
        "VBox",
        "Rule",
        "Kind",
        "Family",
        "sniff",
        "find",
    ),
    *("engine.draw", "named.open", "save", "path.json"),
    *('MemoryOptions(ViewOptions, view="memory")', "health.of(node)", "rotate(-90)"),
    *("groups.find({!r:.80})", "graph.node({!r:.80})"),
}
#: Texts without advice: C++, programs of TVM, styles, names of operators, what is written anew.
NO_ADVICE = re.compile(
    r"analysis/(abi/(layout_changes|place_types|source_check)|tuning/workloads|known_messages|explanation"
    r"|pasted_text|layouts)\.py|export/(page/save|report)\.py"
    r"|widgets/(color_columns|shown_run|saved)\.py|plots/(chart|tensors)\.py|^messages\.md$"
)
#: Regular expressions, files and our own modules.
PATTERN = re.compile(r"\\[dswbS]|\(\?|\[\^|\|\w+\)")
FILE = re.compile(r"[\w.]+\.(txt|html|json|pcap|params|py|md|csv|log|js|css|ts|svg|png|pte|dot|gz)")
MODULE = re.compile(r"(tvmdbg_widgets|tests|run\.executorch)\.[a-z_.]+")
#: What our texts say of graphs and files of their own.
NODE = "tvmgen_default_fused_nn_conv2d_add_nn_relu"
MEANT = {
    '"conv2d_3"': f'"{NODE}"', '"conv2d"': f'"{NODE}"', '"memcpy"': f'"{NODE}"',
    "/tmp/tvmdbg": "tvmdbg",  # noqa: S108 (nothing is written there)
    '"prof", "report.txt"': '"plain", "report.json"', "stage3.png": "...",
    "[2, 1, 4]": "[2, 1, 4, 1, 1, 2]",
    'net.params", dtype_layout="code:u8 bits:u8 lanes:u32': 'net.params", dtype_layout="narrow',
    "run.tensors[4].unfold": "tensor.unfold", ".follow(seconds=5)": ".follow()",
}  # fmt: skip
#: Names of values, which a line of ours does not begin with.
VALUES = {
    *("a", "b", "i", "k", "x", "by", "id", "key", "name", "path", "data", "task", "text", "query"),
    *(
        "index",
        "target",
        "folder",
        "memory",
        "entry",
        "start",
        "end",
        "value",
        "metadata",
        "client",
    ),
    *("server", "instruction", "chain", "method", "mapping", "conv", "relu", "blob", "program"),
    *("lib", "Path", "executorch", "events", "array", "display", "np", "numpy", "os", "logging"),
    *("json", "pathlib", "bokeh", "etdump", "etrecord", "debug_buffer", "capture", "new", "kept"),
    *("THIS_FOLDER", "console_output", "pasted"),
}
#: What has the methods that a text names alone.
OWNERS = ("run", "log", "view", "tensor", "rerun", "delegation")
#: Modules whose functions are run too where a text calls them.
INSTALLED = {"np", "numpy", "os", "logging", "bokeh"}
#: Modules of Python.
STANDARD = {"pathlib", "contextlib", "str"}
#: Written by a line, and in the way of the next.
WRITTEN = ("mini", "kept", "new")
#: What was run already, in this process.
RAN: set[str] = set()


@functools.cache
def every_text() -> list[tuple[str, str, str]]:
    return list(texts())


def is_python(code: str) -> bool:
    """Whether a block is; docstrings hold grammars too, and test_docs.py sees to the pages."""
    try:
        ast.parse(code)
    except SyntaxError:
        return False
    return True


def meant(code: str) -> str:
    for told, there in MEANT.items():
        code = code.replace(told, there)
    return code


def lines() -> Iterator[tuple[str, str, str]]:
    """Where each line stands between words, what kind of text that is, and the line."""
    for where, kind, text in every_text():
        if not NO_ADVICE.search(where) and not (kind == "string" and PATTERN.search(text)):
            for code in chains(kind, text):
                yield where, kind, code
    for each in MESSAGES:
        for text in (each.cause, each.tell, *each.next):
            for code in chains("string", text):
                yield f"explain: {each.id}", "string", code


@pytest.fixture(scope="module")
def spaces(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[Space]]:
    folder = lay_out(tmp_path_factory.mktemp("typed"))
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setattr(Follower, "__iter__", lambda each: iter([each._log]))
        patch.setitem(inspect.unwrap(tvmdbg.DebugRun.save_html).__kwdefaults__, "budget", 600_000)
        names = typed_names(folder)
        yield names
        names[0]["events"].close()
    Widget.close_all()


KNOWN = {
    name: set(re.findall(r"\w+", words))
    for told in CHECKED.values()
    for name, words in re.findall(r"([\w.]+)(?:\(([\w, ]*)\))?", told)
}


def unchecked(line: ast.AST, space: Container[str]) -> list[str]:
    """Others' names in a line that CHECKED has not, or not with these keywords."""
    return [
        f"{name}({', '.join(sorted(words))})"
        for name, words in names_of(line).items()
        if name.partition(".")[0] not in space
        and not hasattr(builtins, name)
        and name not in NOT_TYPED
        and not (name in KNOWN and words <= KNOWN[name])
    ]


def is_others(line: ast.AST) -> bool:
    """Whether all that a line calls is somebody else's."""
    names = {name: words for name, words in names_of(line).items() if not hasattr(builtins, name)}
    return bool(names) and not unchecked(line, ())


def clear() -> None:
    for name in WRITTEN:
        shutil.rmtree(name, ignore_errors=True)


def wrong_line(kind: str, code: str, spaces: list[Space]) -> list[str]:
    """What is wrong with a line that stands between words."""
    root = re.split(r"\W", code, maxsplit=1)[0]
    line = parsed(code)
    is_ours = root in spaces[0] and root not in VALUES
    if line is None:
        is_repr = kind == "string" and root[0].isupper()
        return ["no Python"] if is_ours and not is_repr else []
    calls = any(isinstance(each, ast.Call) for each in ast.walk(line))
    is_ours = is_ours or (calls and kind != "docstring" and root in INSTALLED)
    is_name = not calls and (kind == "script" or (kind == "docstring" and "[" not in code))
    if is_name or is_others(line):
        return []
    if is_ours:
        if "save" in code or "extract" in code:
            clear()
        RAN.add(ast.unparse(line))
        return [said] if (said := problem(line, spaces)) else []
    if kind == "docstring" or not calls or (kind == "script" and root not in spaces[0]):
        return []
    owners = [spaces[0][each] for each in OWNERS]
    bare = [{**spaces[0], root: getattr(each, root)} for each in owners if hasattr(each, root)]
    bare = [each for each in bare if not takes_anything(each[root])] or bare
    if (
        isinstance(line, ast.Call) and isinstance(line.func, ast.Name) and bare
    ):  # the name of a method, or a call of it
        said = problem(line, bare) if line.args or line.keywords else None
        return [said] if said else []
    return [f"not in CHECKED: {name}" for name in unchecked(line, spaces[0])]


def test_inline_code_in_texts_is_valid(spaces: list[Space]) -> None:
    wrong, seen = [], set(NOT_TYPED)
    for where, kind, told in lines():
        code = meant(told)
        if code not in seen and not FILE.fullmatch(code) and not MODULE.fullmatch(code):
            wrong += [f"{where}: {told}: {said}" for said in wrong_line(kind, code, spaces)]
        seen.add(code)
    assert not wrong, "\n".join(wrong)


def wrong_in(code: str, page: list[Space], alone: list[Space]) -> Iterator[str]:
    """What is wrong in a block, with the names of the page above it and with those of ours."""
    body = [each for each in ast.parse(code).body if ast.unparse(each) not in RAN]
    RAN.update(ast.unparse(each) for each in body if isinstance(each, ast.Expr))
    clear()
    failed = [line for line in body if problem(line, page)]
    said = {line: problem(line, alone) for line in body} if failed else {}
    if any(name in KNOWN for line in body for name in names_of(line)):
        failed = [line for line in failed if unchecked(line, STANDARD)]
    yield from (f"{ast.unparse(line)}: {said[line]}" for line in failed if said[line])


def test_code_blocks_in_texts_run(spaces: list[Space]) -> None:
    wrong = []
    for where, kind, text in every_text():
        there = [meant(each) for each in blocks(kind, text) if is_python(each)]
        module: Space = {}
        if kind == "docstring" and any(there):
            name = where.removesuffix(".py").replace("/", ".").removesuffix(".__init__")
            module = vars(importlib.import_module(name))
        page = [{**module, **space} for space in spaces if there]
        for code in there:
            alone = [{**module, **space} for space in spaces]
            wrong += [f"{where}: {said}" for said in wrong_in(code, page, alone)]
    assert not wrong, "\n".join(wrong)


def test_extras_that_a_text_names_exist() -> None:
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    told = {
        (where, extra)
        for where, _, text in every_text()
        for extras in re.findall(r"tvmdbg-widgets\[([\w, ]+)\]", text)
        for extra in re.split(r", ?", extras)
    }
    assert len(told) > 5
    assert {extra for _, extra in told} <= set(declared["optional-dependencies"])


@pytest.mark.parametrize(
    "code",
    [
        *("run.nodes()", "run.timeline.topmost", "run.top(5, colour=…)", "GraphView(run, by=…)"),
        *('run.select("colour:red")', 'view.color_by("speed")', "log.errors_by('hour')"),
        *("save_html(buget=…)", "made_up(1)", "made.up()", "np.asarray(1, kind=…)"),
        *("ms.tune_tir(mod, trials=…)", "auto_scheduler.tune()", "open(…, times=…, colour=…)"),
    ],
)
def test_invalid_inline_code_is_detected(code: str, spaces: list[Space]) -> None:
    (line,) = chains("string", f"Type {code} and look.")
    assert wrong_line("string", line, spaces)
