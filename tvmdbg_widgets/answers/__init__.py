"""Questions of the views, and their replies."""
