"""bestk beside its peers, on the machine at hand."""
