"""Selections and pickles that every later version has to repeat."""
