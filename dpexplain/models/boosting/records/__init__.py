"""Whatever holds the records of a boosting fit: arrays, chunks, threads, a Dask cluster."""
