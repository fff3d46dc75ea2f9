"""How long counting takes: bestk, what a user would pick instead, and the limits of the chip."""
