"""FlatBuffers read column by column, every offset checked before it is followed.

The format is specified in ``docs/source/internals.md`` of google/flatbuffers. Its Python package
verifies nothing.
"""
