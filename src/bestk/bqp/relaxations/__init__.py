"""Relaxations of the quadratic problem, shared by bounds and solvers."""
