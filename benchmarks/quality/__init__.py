"""Prediction errors on held-out rows with features selected by bestk and other packages."""
