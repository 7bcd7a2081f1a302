"""geex at work on an embedded model: ten garments, explained by the default method and by the paper's."""
