"""The property tests of ``tests/fuzz``, over and over with new seeds."""
