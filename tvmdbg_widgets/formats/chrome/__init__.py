"""Chrome traces of any program, streamed: events, their columns, tracks and slices."""
