"""The experiments of Venkateswara et al. (2015); not part of the wheel."""
