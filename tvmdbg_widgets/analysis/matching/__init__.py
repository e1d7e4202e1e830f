"""Nodes of one graph matched to those of another, each with how sure that is and why."""

from tvmdbg_widgets.analysis.matching.result import Certainty, Match, Matching, Reason
from tvmdbg_widgets.analysis.matching.search import match

__all__ = ["Certainty", "Match", "Matching", "Reason", "match"]
