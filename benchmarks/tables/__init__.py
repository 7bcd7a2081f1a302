"""Shapley values of tabular models: ours and the peers', against exact ones."""
