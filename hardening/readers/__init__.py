"""Fuzzing of the file readers."""
