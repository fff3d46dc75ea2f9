"""Selections that every later version has to repeat."""
