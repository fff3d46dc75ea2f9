"""Warnings that a caller can catch or silence."""

__all__ = ["SelectionWarning"]


class SelectionWarning(UserWarning):
    """What to know before trusting a selection, one sentence per line.

    The sentences are also in ``solution_.warnings``.

    Examples
    --------
    >>> import warnings
    >>> warnings.filterwarnings("ignore", category=SelectionWarning)  # to silence them
    """
