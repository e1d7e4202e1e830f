"""The widgets: models that carry state and answers; the pixels are drawn by ``js/``."""
