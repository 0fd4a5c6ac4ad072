"""Storage of records in a boosting fit: arrays, chunks, threads or a Dask cluster."""
