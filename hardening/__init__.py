"""Long tests: fuzzing, fault injection, load and environments, with their `results`."""
