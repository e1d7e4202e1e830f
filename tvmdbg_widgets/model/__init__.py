"""What a run is made of: graph, tensors and timeline as columns. Knows no file format."""
