"""A slip is answered with the nearest names, the same way wherever it is made."""

import copy
import inspect
import re
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import pytest
import traitlets

import tvmdbg_widgets as tvmdbg
from tvmdbg_widgets import abi, plots, rpc, tuning
from tvmdbg_widgets.widgets.traits import OptionTrait

VIEWS = (
    "Debugger",
    "Flamechart",
    "GraphView",
    "MemoryView",
    "TensorInspector",
)


def log() -> tvmdbg.TuningLog:
    return tvmdbg.open_tuning(tvmdbg.samples.ansor_starved)


def _callables() -> Iterator[tuple[str, Callable[..., Any]]]:
    for module in (tvmdbg, plots, abi):
        for name in (*module.__all__, *(("open",) if module is tvmdbg else ())):
            if inspect.isfunction(found := getattr(module, name)):
                yield f"{module.__name__.rpartition('.')[2]}.{name}", found
    for kind in (tvmdbg.DebugRun, tvmdbg.TuningLog, tvmdbg.RpcLog):
        for name, member in inspect.getmembers(kind, inspect.isfunction):
            if not name.startswith("_") and member.__module__.startswith("tvmdbg_widgets"):
                yield f"{kind.__name__}.{name}", member


def _keywords(function: Callable[..., Any]) -> list[str]:
    found = inspect.signature(function).parameters.values()
    if any(each.kind is each.VAR_KEYWORD for each in found):
        return []
    return [
        each.name for each in found if each.kind is each.KEYWORD_ONLY or each.default != each.empty
    ]


def _slip(word: str) -> str:
    return word[:1] + word[2:] if len(word) > 3 else word + "x"


@pytest.mark.parametrize(
    ("name", "function"), list(_callables()), ids=lambda each: each if isinstance(each, str) else ""
)
def test_misspelled_keyword_suggests_nearest_name(name: str, function: Callable[..., Any]) -> None:
    for keyword in _keywords(function):
        with pytest.raises(TypeError) as told:
            function(**{_slip(keyword): 1})
        assert f"{keyword!r}" in str(told.value), f"{name}: {told.value}"
        assert "did you mean" in str(told.value)


@pytest.mark.parametrize(
    "module", [tvmdbg, plots, abi, tvmdbg.samples, tvmdbg.executorch, rpc, tuning]
)
def test_misspelled_name_of_a_module_suggests_nearest_name(module: ModuleType) -> None:
    for name in module.__all__:
        if not name.startswith("_"):
            with pytest.raises(AttributeError) as told:
                getattr(module, _slip(name))
            assert re.search(rf"did you mean .*{name!r}", str(told.value), re.IGNORECASE)


@pytest.mark.parametrize(
    "kind", ["DebugRun", "Graph", "Timeline", "TuningLog", "RpcLog", "Session", "GraphView"]
)
def test_misspelled_attribute_suggests_nearest_name(run: tvmdbg.DebugRun, kind: str) -> None:
    made: Any = {
        "DebugRun": lambda: run,
        "Graph": lambda: run.graph,
        "Timeline": lambda: run.timeline,
        "TuningLog": log,
        "RpcLog": lambda: tvmdbg.open_rpc(tvmdbg.samples.changed_dtype / "session.pcap"),
        "Session": lambda: run.session,
        "GraphView": lambda: tvmdbg.GraphView(run),
    }[kind]()
    own = [name for name, _ in inspect.getmembers_static(made) if not name.startswith("_")]
    assert kind == type(made).__name__
    for name in own:
        if len(name) > 3 and not hasattr(made, _slip(name)):
            with pytest.raises(AttributeError, match=f"^{kind} has no attribute .*did you mean"):
                getattr(made, _slip(name))
    assert not hasattr(made, "__not_there__")
    assert isinstance(made, traitlets.HasTraits) or copy.copy(made) is not None


@pytest.mark.parametrize("view", VIEWS)
def test_assigning_a_misspelled_trait_is_refused(run: tvmdbg.DebugRun, view: str) -> None:
    made = getattr(tvmdbg, view)(run)
    for trait in sorted(made.traits(sync=True)):
        if not trait.startswith("_") and not hasattr(made, _slip(trait)) and len(trait) > 4:
            with pytest.raises(AttributeError, match=f"did you mean .*{trait!r}"):
                setattr(made, _slip(trait), 1)
    made.remark = "a user's own attribute"
    assert made.remark == "a user's own attribute"


@pytest.mark.parametrize(
    ("name", "function"), list(_callables()), ids=lambda each: each if isinstance(each, str) else ""
)
def test_wrong_type_is_refused_by_the_function_that_is_called(
    name: str, function: Callable[..., Any], run: tvmdbg.DebugRun
) -> None:
    """The argument's name, or what to pass, stands in the message; no inner frame is needed."""
    kind = name.partition(".")[0]
    if kind == "RpcLog":
        held: list[Any] = [tvmdbg.open_rpc(tvmdbg.samples.changed_dtype / "session.pcap")]
    else:
        held = {"DebugRun": [run], "TuningLog": [log()]}.get(kind, [])
    parameters = [
        each
        for each in inspect.signature(function).parameters.values()
        if each.name != "self" and each.kind is each.POSITIONAL_OR_KEYWORD
    ]
    if not parameters or parameters[0].annotation == "bool":
        return
    needed = [each for each in parameters if each.default is each.empty] or parameters[:1]
    with pytest.raises((TypeError, ValueError, LookupError)) as told:
        list(function(*held, *(object() for _ in needed)))
    assert hasattr(told.value, "_render_traceback_"), f"{name}: {told.value!r}"


@pytest.mark.parametrize("view", [*VIEWS, "ComparisonView", "TuningView"])
def test_misspelled_view_choice_suggests_nearest_value(run: tvmdbg.DebugRun, view: str) -> None:
    given = {"ComparisonView": (run, run), "TuningView": (log(),)}.get(view, (run,))
    made = getattr(tvmdbg, view)(*given)
    traits = {name: each for name, each in made.traits().items() if isinstance(each, OptionTrait)}
    chosen = {name: each for name, each in traits.items() if each.option.accepts.texts}
    assert chosen or view == "Debugger"
    for name, trait in chosen.items():
        value = max(trait.option.accepts.texts, key=len)
        with pytest.raises(traitlets.TraitError) as told:
            setattr(made, name, _slip(value))
        assert f"{name}: no {name} {_slip(value)!r}; did you mean {value!r}" in str(told.value)
    assert not [each for each in made.traits().values() if type(each) is traitlets.Enum]


@pytest.mark.parametrize("view", VIEWS)
def test_misspelled_trait_suggests_nearest_name(run: tvmdbg.DebugRun, view: str) -> None:
    made = getattr(tvmdbg, view)
    for trait in sorted(set(made.class_trait_names(sync=True)) - {"run"}):
        if not trait.startswith("_") and trait not in ("layout", "tabbable", "tooltip", "comm"):
            with pytest.raises(TypeError) as told:
                made(run, **{_slip(trait): 1})
            assert f"{trait!r}" in str(told.value)


@pytest.mark.parametrize(
    ("asked", "near"),
    [
        (lambda run: run.figure("grahp"), "'graph'"),
        (lambda run: run.figure("graph", derection="down"), "'direction'"),
        (lambda run: run.figure("timeline", chart="merge"), "'merged'"),
        (lambda run: run.figure("graph", theme="drak"), "'dark'"),
        (lambda run: run.tensors["conv2d"], "conv2d"),
        (lambda run: run.tensors["CONV2D"], "conv2d"),
        (lambda run: run.graph.node("conv2d"), "conv2d"),
        (lambda _: tvmdbg.open(tvmdbg.samples.resnet20_cifar, limits={"grahp": 1}), "'graph'"),
        (lambda run: tvmdbg.Session(run, entyr=(1, 0)), "'entry'"),
        (lambda _: abi.struct("DLTensr"), "'DLTensor'"),
        (lambda run: plots.times(run, theme="drak"), "'dark'"),
        (lambda run: tvmdbg.GraphView(run, direction="dwon"), "direction: no direction 'dwon'"),
        (lambda run: tvmdbg.Debugger(run, height="atuo"), "'auto'"),
        (lambda run: tvmdbg.TensorInspector(run, color_range="robst"), "'robust'"),
        (lambda run: tvmdbg.Debugger(run, collapsed=["grahp"]), "'graph'"),
        (lambda run: tvmdbg.ComparisonView(run, run, color_by="spede"), "'speed'"),
        (lambda run: tvmdbg.ComparisonView(run, run, kind="shpae"), "'shape'"),
        (lambda run: run.compare_times(run).by("knid"), "'kind'"),
        (lambda _: abi.struct("DLTensor", order="litle"), "'little'"),
        (lambda _: log().errors_by("roud"), "'round'"),
        (lambda _: log().select("tsak:1"), "task"),
        (lambda _: log().curve("matmul_add 128 768 2304 flot32"), "'matmul_add 128 768 2304"),
    ],
)
def test_misspelled_name_suggests_nearest_name(
    run: tvmdbg.DebugRun, asked: Callable[[tvmdbg.DebugRun], Any], near: str
) -> None:
    with pytest.raises((ValueError, TypeError, LookupError, traitlets.TraitError)) as told:
        asked(run)
    assert "did you mean" in str(told.value)
    assert near in str(told.value)


def test_entry_accepts_the_same_forms_everywhere(run: tvmdbg.DebugRun) -> None:
    name = run.graph.nodes[38].name
    for given in (38, name, (38, 0), [38, 0], (name, 0), run.tensors[38]):
        session = tvmdbg.Session(run, entry=given)
        assert session.entry == (38, 0)
        session.entry = None
        session.entry = given
        assert session.entry == (38, 0)
        assert tvmdbg.TensorInspector(run, entry=given).entry == (38, 0)
        drawn = run.figure("tensor", entry=given).svg
        assert drawn == run.figure("tensor", entry=(38, 0)).svg


@pytest.mark.parametrize(
    "entry",
    [999, (999, 0), -1, (38, 5), (38, -1), "nope", 1.5, True, (1, 2, 3)],
)
def test_invalid_entry_is_refused(run: tvmdbg.DebugRun, entry: Any) -> None:
    with pytest.raises(traitlets.TraitError, match=r"^entry: "):
        tvmdbg.Session(run, entry=entry)
    with pytest.raises(traitlets.TraitError, match=r"^entry: "):
        tvmdbg.TensorInspector(run, entry=entry)
    with pytest.raises((TypeError, LookupError)):
        run.figure("tensor", entry=entry)


def test_unknown_node_error_shows_range_of_nodes(run: tvmdbg.DebugRun) -> None:
    with pytest.raises(KeyError, match="no node 999 with a tensor; ids are 0 to 71"):
        run.tensors[999]


def test_internal_error_keeps_all_frames() -> None:
    from tvmdbg_widgets.model.base.short_tracebacks import shorten

    with pytest.raises(ValueError, match="invalid literal") as told:
        int("x")
    shorten(told.value)
    assert not hasattr(told.value, "_render_traceback_")


def _commands(group: Any, *words: str) -> Iterator[tuple[str, ...]]:
    for name, command in group.commands.items():
        yield (*words, name)
        if hasattr(command, "commands"):
            yield from _commands(command, *words, name)


def test_every_misspelled_command_and_option_suggests_nearest() -> None:
    import typer.main
    from typer.testing import CliRunner

    from tvmdbg_widgets.cli.app import app

    root: Any = typer.main.get_command(app)
    runner = CliRunner()

    def said(*words: str) -> str:
        done = runner.invoke(app, words, env={"COLUMNS": "4000"})
        assert done.exit_code == 2, words
        return done.output

    for words in _commands(root):
        *before, verb = words
        assert re.search(rf"did you mean .*'{verb}'", said(*before, _slip(verb))), words
        command = root
        for word in words:
            command = command.commands[word]
        for parameter in command.params if not hasattr(command, "commands") else ():
            option = max(parameter.opts, key=len)
            if option.startswith("--") and len(option) > 5:
                output = said(*words, f"--{_slip(option[2:])}")
                assert re.search(rf"did you mean .*'{option}'", output), (words, option)


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("tabel x", "no command 'tabel'; did you mean 'table' or 'trace'?"),
        ("tuning tsks", "no command 'tsks'; did you mean 'tasks'?"),
        ("table --tvmm x", "no option '--tvmm'; did you mean '--tvm'?"),
        ("tuning tasks --srt x", "no option '--srt'; did you mean '--sort'"),
        ("--versoin", "no option '--versoin'; did you mean '--version'?"),
        ("compare a b --fail-on slwer", "no choice 'slwer'; did you mean 'slower'?"),
        ("table x --by knd", "no choice 'knd'; did you mean 'kind'?"),
    ],
)
def test_misspelled_command_line_word_suggests_nearest(line: str, told: str) -> None:
    from typer.testing import CliRunner

    from tvmdbg_widgets.cli.app import app

    done = CliRunner().invoke(app, line.split(), env={"COLUMNS": "400"})
    assert done.exit_code == 2
    assert told in " ".join(done.output.split())
