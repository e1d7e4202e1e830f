"""One script a claim: `python -m benchmarks.<name>` prints what was promised and found."""
