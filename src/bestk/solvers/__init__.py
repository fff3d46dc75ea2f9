"""Solvers of the quadratic problem: one file each, one registry, one referee."""
