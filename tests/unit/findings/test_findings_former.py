"""Former words for severity and confidence: they still work, and warn."""

from __future__ import annotations

import pytest

from tvmdbg_widgets.model.verdicts import findings
from tvmdbg_widgets.model.verdicts.findings import Confidence, Finding, Findings, Severity

NEW = list(zip(Severity, ("fault", "doubt", "cost", "note"), strict=True))
SURE = list(zip(Confidence, ("certain", "likely", "possible"), strict=True))


def one(severity: Severity = Severity.ERROR, confidence: Confidence = Confidence.HIGH) -> Finding:
    return Finding("r", severity, "title", (), confidence, "why")


@pytest.mark.parametrize(("severity", "former"), NEW)
def test_kind_is_severity_in_former_words(severity: Severity, former: str) -> None:
    with pytest.warns(DeprecationWarning, match=r"use Finding\.severity") as told:
        assert one(severity).kind == former
    assert told[0].filename == __file__
    with pytest.warns(DeprecationWarning, match="use Severity"):
        kinds = findings.Kind
    with pytest.warns(DeprecationWarning, match="severity"):
        assert one(severity).kind is kinds(former)
    with pytest.warns(DeprecationWarning, match="by_severity"):
        assert len(Findings([one(severity)]).by_kind(kinds(former))) == 1


@pytest.mark.parametrize(("confidence", "former"), SURE)
def test_certainty_is_confidence_in_former_words(confidence: Confidence, former: str) -> None:
    with pytest.warns(DeprecationWarning, match=r"use Finding\.confidence"):
        assert one(confidence=confidence).certainty == former
    with pytest.warns(DeprecationWarning, match="use Confidence"):
        assert findings.Certainty(former).value == former


def test_faults_are_errors() -> None:
    some = Findings([one(), one(Severity.INFO)])
    with pytest.warns(DeprecationWarning, match=r"use Findings\.errors"):
        assert list(some.faults) == list(some.errors) == [one()]


def test_a_frame_has_both_words() -> None:
    frame = Findings([one(Severity.WARNING, Confidence.LOW)]).to_dataframe()
    both = frame[["severity", "confidence", "kind", "certainty"]]
    assert both.to_numpy().tolist() == [["warning", "low", "doubt", "possible"]]


def test_other_names_are_none() -> None:
    with pytest.raises(AttributeError, match="no attribute 'Other'"):
        _ = findings.Other
