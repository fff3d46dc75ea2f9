"""Pick the best k features together."""
