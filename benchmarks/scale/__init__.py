"""Benchmarks on large tables, GPUs and clusters."""
