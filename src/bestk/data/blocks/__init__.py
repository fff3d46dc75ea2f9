"""Tables in blocks of rows: files, folders, iterables, dask."""
