# pyright: reportAttributeAccessIssue=false
"""The classes and functions of the engine that this package uses."""

from lookalike import _engine

MinHashState = _engine.DsMinHash
bulk = _engine.ds_bulk
matrix = _engine.ds_matrix
sha1_hash32 = _engine.ds_sha1_hash32
sha1_hash64 = _engine.ds_sha1_hash64
token_hash = _engine.ds_token_hash
Tables = _engine.DsTables
Kept = _engine.DsKept
optimal_bands = _engine.ds_optimal_bands
optimal_containment_bands = _engine.ds_optimal_containment_bands
error_areas = _engine.ds_error_areas
Forest = _engine.DsForest
Weights = _engine.DsWeights
band_keys = _engine.ds_band_keys
check_scheme = _engine.ds_check_scheme
best_partitions = _engine.ds_best_partitions
