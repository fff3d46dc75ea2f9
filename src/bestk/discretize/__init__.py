"""Supervised and unsupervised discretisers: numbers to integer codes."""
