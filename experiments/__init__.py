"""The paper's experiments on this library; not part of the wheel."""
