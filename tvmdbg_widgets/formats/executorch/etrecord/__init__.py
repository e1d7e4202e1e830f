"""ETRecord: programs, maps and saved tensors of a model."""
