"""Objectives, times and gaps of the solvers on random, published and real matrices."""
