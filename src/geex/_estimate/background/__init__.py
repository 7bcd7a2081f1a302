"""Shapley values over the rows of a background: the mean game, estimated from pairs of a subset and a row."""
