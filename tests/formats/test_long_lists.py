"""Messages about files that name thousands of things: a few are told, and how many there are."""

from dataclasses import replace
from typing import Any, cast

import pytest

import tvmdbg_widgets as tvmdbg
from tests.make.fuzz.files import zipped
from tvmdbg_widgets.model import findings
from tvmdbg_widgets.model.base.text import FormatError, Issue, IssueSeverity
from tvmdbg_widgets.model.executorch.etrecord import ETRecord, ExportedProgram

_MOST = 1_500
_PROGRAM = b'{"graph_module": {"graph": {"inputs": [], "outputs": [], "nodes": []}}}'


def _etrecord(methods: int) -> bytes:
    named = {f"edge_dialect_exported_program/method{i}": _PROGRAM for i in range(methods)}
    return zipped({"ETRECORD_V0": b"", **named})


def test_etrecord_with_many_methods_lists_only_some() -> None:
    with pytest.raises(FormatError, match="several methods") as told:
        tvmdbg.open(_etrecord(3_000))
    assert len(str(told.value)) < _MOST
    assert "and 2,990 more" in str(told.value)


def test_overlong_message_keeps_its_beginning_and_end() -> None:
    told = f"field {'x' * 1_000_000} is missing"
    issue = Issue("a-rule", IssueSeverity.NOTE, told)
    finding = findings.Finding(
        findings.Severity.INFO, told, (told,), findings.Confidence.HIGH, told
    )
    for each in (issue.message, finding.title, finding.why, *finding.evidence):
        assert len(each) == 2_000
        assert (each[:7], each[-12:]) == ("field x", "x is missing")
    assert replace(issue).message == issue.message


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
