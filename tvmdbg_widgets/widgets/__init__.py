"""Widgets: models with state and answers; ``js/`` draws them."""
