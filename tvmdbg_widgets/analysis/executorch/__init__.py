"""Results of ExecuTorch's Inspector: events of an ETDump joined with an ETRecord."""
