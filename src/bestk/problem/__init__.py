"""The quadratic problem and its solutions, independent of data."""
