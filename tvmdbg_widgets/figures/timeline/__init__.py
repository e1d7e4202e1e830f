"""The timeline of a run, and of two runs, as figures."""
