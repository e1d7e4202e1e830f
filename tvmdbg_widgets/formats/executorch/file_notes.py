"""What is told of the files of a run: what they are, what is left out, what to know of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from tvmdbg_widgets.formats.executorch.choices import methods_of
from tvmdbg_widgets.formats.executorch.delegates.families import family_of
from tvmdbg_widgets.formats.parts import Part
from tvmdbg_widgets.model.base.issues import Issue, IssueSeverity
from tvmdbg_widgets.model.base.numbers import agree, counted
from tvmdbg_widgets.model.base.text import listed, one_line
from tvmdbg_widgets.model.executorch.delegate_calls import is_of_delegate
from tvmdbg_widgets.model.executorch.etdump import ETDump, EventKind
from tvmdbg_widgets.model.executorch.event_nodes import EventNodes
from tvmdbg_widgets.model.executorch.files import ExecuTorchFiles
from tvmdbg_widgets.model.parts import RunFile

#: Kinds of parts of one run of ExecuTorch.
KINDS = ("etdump", "etrecord", "program", "bundled", "named-data", "debug-buffer", "inspector-text")
#: Delegates whose payloads and compile specs are told of the run; nodes tell them too.
_MOST_DELEGATES = 16
#: What a saved run has besides; its times are those of the ETDump.
_OF_RECORDINGS = ("recording", "recorded-times", "ir")


def left_out(parts: Sequence[Part]) -> list[Issue]:
    """Return the issue of files that are none of ExecuTorch."""
    known = (*KINDS, *_OF_RECORDINGS)
    others = sorted({part.source.name for part in parts if part.kind not in known})
    if not others:
        return []
    text = f"no files of ExecuTorch, left out: {listed(others)}"
    return [Issue("files-left-out", IssueSeverity.NOTE, text)]


def notes(files: ExecuTorchFiles) -> list[Issue]:
    """Tell what to know of the times, of the method, and of files that disagree."""
    dump, found = files.dump, []
    edges = files.insides.edges
    if edges is not None and edges.contradicted and files.program and files.record:
        places = [str(each) for each in sorted(edges.contradicted)]
        text = (
            f"operators, sizes or debug handles differ between {files.record.file} and the "
            f"program's delegate in {agree(len(places), 'instruction')} {listed(places)}: ETRecord "
            "and program are not of the same export, and what the delegate ran there is of no node"
        )
        found.append(
            Issue("executorch-disagree", IssueSeverity.WARNING, text, file=files.program.file)
        )
    if dump is not None and dump.values:
        text = (
            "this run logged values, which takes time within the measured calls: its times are "
            "longer than those of a run without a debug buffer"
        )
        found.append(Issue("times-inflated", IssueSeverity.NOTE, text, file=dump.file))
    known = len(methods_of(files.record, files.program)) < 2 or files.insides.tell_the_method
    if dump is not None and not known:
        text = f"an ETDump does not tell which method ran; {files.method!r} is assumed"
        found.append(Issue("method-assumed", IssueSeverity.NOTE, text, file=dump.file))
    if dump is not None and files.event_nodes is not None:
        found += _estimated(dump, files.event_nodes)
    return found


def runs_left_out(runs: frozenset[int], dump: ETDump, method: str) -> list[Issue]:
    """Return the issue of runs of another method."""
    if not runs:
        return []
    text = (
        f"{len(runs)} of {counted(dump.num_runs, 'run')} called other operators than {method!r} "
        "has, so of another method: those times and values are of no operator here"
    )
    return [Issue("runs-of-others", IssueSeverity.NOTE, text, file=dump.file)]


def evidence(files: ExecuTorchFiles) -> Iterable[str]:
    """Say of each file what it is, and of the program what its delegates are."""
    joined = files.event_nodes
    of_table = joined is not None and joined.of_table
    if files.dump is not None and (of_table or files.dump.call_word == "row"):
        yield f"{files.dump.file} holds a table of ExecuTorch's Inspector"
    elif files.dump is not None:
        yield f"{files.dump.file} is an ETDump (ED00), version {files.dump.version}"
    if files.delegation is not None:
        yield "get_delegation_info counted the nodes that went to delegates"
    if files.record is not None:
        yield f"{files.record.file} has a member ETRECORD_V0"
    if files.program is not None:
        yield f"{files.program.file} is a program (ET12)"
        held = {each.index: each for each in files.insides.of(files.method).values()}
        for at, each in sorted(held.items())[:_MOST_DELEGATES]:
            specs = [f"{s.key} = {s.text()}" for s in each.delegate.compile_specs[:16]]
            compiled = f"; compiled with {', '.join(specs)}" if specs else ""
            yield one_line(f"delegate {at}, {each.delegate.id}: {each.payload}{compiled}")
    if files.buffer is not None:
        yield f"{files.buffer.name} is taken for the debug buffer, which has no header"


def file_texts(parts: Sequence[Part]) -> tuple[str, ...]:
    """Return what was read, with sizes."""
    return tuple(f"{part.source.name} ({counted(part.source.size, 'byte')})" for part in parts)


def run_file(part: Part) -> RunFile:
    """Return one file of the run, by its name below the folder that was opened."""
    name = part.source.name.replace("\\", "/")
    bare = part.kind if name.startswith("<") else name.rpartition("/")[2]
    return RunFile(part.kind, name if part.folder is not None else bare, part.source)


def _estimated(dump: ETDump, nodes: EventNodes) -> Iterable[Issue]:
    """Tell once of each backend whose times are not measured."""
    events = np.flatnonzero(is_of_delegate(dump) & (dump.kind == EventKind.PROFILE))
    at = np.unique(np.stack([dump.chain_index[events], dump.instruction_id[events]]), axis=1)
    called = dict.fromkeys(nodes.backends.get((int(c), int(i)), "") for c, i in at.T)
    for backend in called:
        family = family_of(backend)
        if family is not None and family.times:
            text = f"times of events of {backend} are {family.times}"
            yield Issue("times-estimated", IssueSeverity.NOTE, text, file=dump.file)
