"""The tensors of a run: stored arrays, how they are read and laid out."""
