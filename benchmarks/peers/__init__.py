"""What each peer can and cannot do, found out by running it in the way its documentation says."""
