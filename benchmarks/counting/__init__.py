"""Running time of counting: bestk, other packages, and the limits of the processor."""
