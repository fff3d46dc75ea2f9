"""Tables larger than the others time: what a GPU gives."""
