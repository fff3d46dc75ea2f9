"""How good, how fast and how proved the solvers are: on matrices at random, listed and real."""
