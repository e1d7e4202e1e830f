"""Write docs/messages.md from the table of messages: ``python -m tests.make.messages_page``."""

from pathlib import Path

from tvmdbg_widgets.analysis.known_messages import GROUPS

PATH = Path(__file__).parents[2] / "docs/messages.md"
HEAD = """# Messages, explained

What does this error mean, and what should I look at next? Paste the console output:

```python
tvmdbg.explain(console_output)  # or tvmdbg explain < log.txt
```

Each known message gets its cause, how to confirm it, and what to look at next. Line breaks,
blanks and curly quotes do not matter; messages inside printed source code (LLVM IR, C++, a line
of a traceback) are left out. The known ones:
"""
FOOT = """
## Where to go next

* [A changed DLDataType](changed_dtype.md): find the side that misreads the other
* [Making a dump](notebooks/making_a_dump.ipynb): errors on the way to a dump
* [Tuning logs](tuning.md): why trials fail
"""


def page() -> str:
    """The page as text."""
    parts = [HEAD]
    for title, messages in GROUPS.items():
        parts.append(f"\n## {title}\n\n| message | printed by | cause |\n| --- | --- | --- |\n")
        parts += [
            f"| `{_cell(each.says)}` | {_cell(each.versions)} | {_cell(each.cause)} |\n"
            for each in messages
        ]
    return "".join([*parts, FOOT])


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("`", "'")


if __name__ == "__main__":
    PATH.write_text(page(), "utf-8")
