"""Relaxations that bounds and solvers share."""
