"""Everything that is wrong or unclear about a connection."""

from __future__ import annotations

from tvmdbg_widgets.analysis.rpc.conversation import RpcConversation
from tvmdbg_widgets.formats.rpc.connection import RpcConnection
from tvmdbg_widgets.formats.rpc.desync import Desync
from tvmdbg_widgets.model.base.issues import Issue, Issues, IssueSeverity


def all_issues(connection: RpcConnection, talk: RpcConversation, desync: Desync | None) -> Issues:
    """Return the issues of reading, of pairing, and of layouts that disagree."""
    found = list(connection.issues)
    file = connection.title
    if desync is not None:
        found.insert(0, Issue("rpc-desynchronised", IssueSeverity.ERROR, desync.text, file=file))
    if talk.certain_until < len(talk) and len(connection.directions) > 1:
        text = (
            f"from row {talk.certain_until:,} on, which answer belongs to which request rests on "
            "their order alone: bytes before could not be read"
        )
        found.append(Issue("rpc-pairing-unsure", IssueSeverity.WARNING, text, file=file))
    found += [
        Issue("rpc-unpaired", IssueSeverity.WARNING, problem, file=file)
        for problem in talk.problems
    ]
    return Issues(found)
