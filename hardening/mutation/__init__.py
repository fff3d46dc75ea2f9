"""Mutation testing: change one line at a time, and run the tests."""
