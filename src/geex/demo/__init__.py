"""geex at work on an embedded model: ten garments, explained by the paper's method."""
