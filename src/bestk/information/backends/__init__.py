"""Ways to count: one module each, one registry."""
