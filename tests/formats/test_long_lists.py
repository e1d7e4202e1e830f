"""Messages about files that name thousands of things: a few are told, and how many there are."""

from __future__ import annotations

import io
import zipfile
import zlib
from dataclasses import replace
from typing import Any, cast

import pytest

import tvmdbg_widgets as tvmdbg
from tvmdbg_widgets.formats.executorch import etrecord
from tvmdbg_widgets.model import findings
from tvmdbg_widgets.model.base.text import FormatError, Issue, IssueSeverity, listed
from tvmdbg_widgets.model.executorch.etrecord import ETRecord, ExportedProgram
from tvmdbg_widgets.sources.byte_source import BytesSource
from tvmdbg_widgets.sources.unpacking import ZipDirectory, ZipMember

_MOST = 1_500
_PROGRAM = '{"graph_module": {"graph": {"inputs": [], "outputs": [], "nodes": []}}}'


def _etrecord(methods: int) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("ETRECORD_V0", "")
        for i in range(methods):
            archive.writestr(f"edge_dialect_exported_program/method{i}", _PROGRAM)
    return file.getvalue()


def test_long_list_shows_first_items_and_number_of_others() -> None:
    assert listed(["a", "b"]) == "a, b"
    assert listed({"a": 1, "b": 2}, " or ") == "a or b"
    assert listed(range(2_000), most=2) == "0, 1 and 1,998 more"
    assert listed([]) == ""


def test_etrecord_with_many_methods_lists_only_some() -> None:
    with pytest.raises(FormatError, match="several methods") as told:
        tvmdbg.open(_etrecord(3_000))
    assert len(str(told.value)) < _MOST
    assert "and 2,990 more" in str(told.value)


def test_overlong_message_keeps_its_beginning_and_end() -> None:
    told = f"field {'x' * 1_000_000} is missing"
    issue = Issue("a-rule", IssueSeverity.NOTE, told)
    finding = findings.Finding(
        "a-rule", findings.Severity.INFO, told, (told,), findings.Confidence.HIGH, told
    )
    for each in (issue.message, finding.title, finding.why, *finding.evidence):
        assert len(each) == 2_000
        assert (each[:7], each[-12:]) == ("field x", "x is missing")
    assert replace(issue).message == issue.message


def test_etrecord_programs_are_added_to_one_mapping() -> None:
    """Each was put into a copy of all before it: 95,000 took 27 s."""

    reading = etrecord._Reading("a.bin", ZipDirectory())
    source = BytesSource(_PROGRAM.encode(), "a.json")
    member = ZipMember(source, zlib.crc32(_PROGRAM.encode()))
    reading.take("edge_dialect_exported_program/a", member)
    programs = reading.fields["edge_programs"]
    reading.take("edge_dialect_exported_program/b", member)
    assert reading.fields["edge_programs"] is programs
    assert list(programs) == ["a", "b"]


def test_etrecord_repr_shortens_many_methods() -> None:
    record = ETRecord("a.bin", {f"method{i}": ExportedProgram("", (), ()) for i in range(3_000)})
    assert len(repr(record)) < _MOST
    assert "and 2,980 more" in repr(record)


@pytest.mark.parametrize("part", ["expected", "found", "field"])
def test_long_error_parts_are_shortened(part: str) -> None:
    whole = "name " * 100_000
    error = FormatError("it is no file", file="a.json", **cast("Any", {part: whole}))
    assert len(str(error)) < _MOST
    assert getattr(error, part) == whole


def test_long_issue_messages_are_shortened() -> None:
    issue = Issue("odd-name", IssueSeverity.NOTE, "name " * 100_000)
    assert len(issue.message) < 5_000
    assert "…" in issue.message
