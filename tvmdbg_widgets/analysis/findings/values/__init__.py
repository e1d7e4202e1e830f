"""Rules on the values of tensors."""
