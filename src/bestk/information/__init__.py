"""Entropies of a table and the information measures made of them."""
