"""Pages of measured facts, written from the records of the benchmarks and from nothing else."""
