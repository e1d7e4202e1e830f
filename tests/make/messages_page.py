"""Write docs/messages.md from the table of messages: ``python -m tests.make.messages_page``."""

from pathlib import Path

from tvmdbg_widgets.analysis.known_messages import GROUPS

PATH = Path(__file__).parents[2] / "docs/messages.md"
HEAD = (
    "# Messages, explained\n\n"
    "`tvmdbg.explain(text)` and `tvmdbg explain < log.txt` say of pasted console output what is "
    "known about each message in it: the cause, how to tell it from its neighbors, what to look at "
    "next. A blank more or less, a line cut by a terminal and curly quote marks make no "
    "difference; a message within printed source code (LLVM IR, C++, a line of a traceback) did "
    "not occur and is left out. These are the messages that are known.\n"
)


def page() -> str:
    """The page as text."""
    parts = [HEAD]
    for title, messages in GROUPS.items():
        parts.append(f"\n## {title}\n\n| message | printed by | cause |\n| --- | --- | --- |\n")
        parts += [
            f"| `{_cell(each.says)}` | {_cell(each.versions)} | {_cell(each.cause)} |\n"
            for each in messages
        ]
    return "".join(parts)


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("`", "'")


if __name__ == "__main__":
    PATH.write_text(page(), "utf-8")
