"""Small tables as text and HTML."""

from html.parser import HTMLParser

from hypothesis import given
from hypothesis import strategies as st

from tvmdbg_widgets.model.base.numbers import html_table, text_lines
from tvmdbg_widgets.model.base.text import more_text

ROW = st.tuples(st.text(), st.text())


class Cells(HTMLParser):
    """The texts and the tags of a table."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.texts: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert dict(attrs).keys() <= {"style"}
        self.tags.add(tag)
        if tag in ("caption", "th", "td", "p"):
            self.texts.append("")

    def handle_data(self, data: str) -> None:
        self.texts[-1] += data


def test_text_lines_align_columns_left_or_right() -> None:
    rows = [("name", "time"), ("a", "12 µs"), ("conv2d", "3 µs")]
    assert text_lines(rows) == ["name    time", "a       12 µs", "conv2d  3 µs"]
    assert text_lines(rows, right=True) == ["name     time", "a       12 µs", "conv2d   3 µs"]
    assert text_lines([]) == []


def test_long_cell_does_not_widen_other_rows() -> None:
    rows = [("name", "time"), ("a" * 100_000, "12 µs"), *[("b", "3 µs")] * 1000]
    lines = text_lines(rows)
    assert lines[1] == f"{'a' * 100_000}  12 µs"
    assert sum(map(len, lines)) < 400_000


def test_more_text_counts_omitted_rows() -> None:
    assert more_text(12, 12) == []
    assert more_text(3000, 40) == ["… and 2,960 more"]


@given(ROW, st.lists(ROW), st.text(min_size=1), st.lists(st.text()))
def test_html_table_shows_any_content_as_text(
    head: tuple[str, str], rows: list[tuple[str, str]], caption: str, below: list[str]
) -> None:
    found = Cells(html_table(head, rows, caption=caption, below=below))
    assert found.tags <= {"table", "caption", "thead", "tbody", "tr", "th", "td", "p"}
    assert found.texts == [caption, *head, *(cell for row in rows for cell in row), *below]
