"""The property tests of ``tests/fuzz``, repeated with new seeds."""
