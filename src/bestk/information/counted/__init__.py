"""Counts of pairs that add up over blocks of rows."""
