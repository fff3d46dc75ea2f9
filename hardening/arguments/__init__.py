"""Fuzzing of the command line."""
