"""A source that counts what is read of it: work that does not hang on the machine."""

from tvmdbg_widgets.sources.byte_source import BytesSource


class CountedSource(BytesSource):
    """Counts bytes and reads, and keeps the size of the largest read."""

    taken = calls = largest = 0

    def _fill(self, offset: int, view: memoryview) -> None:
        self.taken += len(view)
        self.calls += 1
        self.largest = max(self.largest, len(view))
        super()._fill(offset, view)
