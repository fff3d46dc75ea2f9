"""Long trials: inputs, faults, load and other machines; what each found is kept in `results`."""
