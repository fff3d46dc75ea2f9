"""Benchmarks of bestk and other packages."""
