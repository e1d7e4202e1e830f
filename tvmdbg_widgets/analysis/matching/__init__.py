"""Matching of nodes between two graphs, with certainty and reason."""

from tvmdbg_widgets.analysis.matching.result import Certainty, Match, Matching, Reason
from tvmdbg_widgets.analysis.matching.search import match

__all__ = ["Certainty", "Match", "Matching", "Reason", "match"]
