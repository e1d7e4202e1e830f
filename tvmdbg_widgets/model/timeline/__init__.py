"""The timeline of a run: slices, repeats, rows, flows, gaps."""
