"""Checks of a kind of features."""

import pickle
from math import prod
from typing import Any

import numpy as np

from geex._arrays.arrays import as_explicand
from geex._protocols import Features
from geex.testing.checking import check_stable, require, step


def check_features(features: Features, x: Any) -> None:
    """Check that the members of a feature kind agree.

    Parameters
    ----------
    features
        The features.
    x
        An input that they go with.

    Raises
    ------
    CheckFailed
        A check failed. Its `code` is the name of the check: "stable-values", "equality", "shape", "index", "total",
        "axes", "merged-axis" or "names".

    Examples
    --------
    >>> import geex, numpy as np
    >>> geex.testing.check_features(geex.Pixels(channels=0), np.ones((3, 8, 8)))
    """
    require(isinstance(features, Features), "features", features, "must be a geex.Features.")
    check_stable(features)
    shape = tuple(as_explicand(x).shape)
    with step("equality", features):
        require(pickle.loads(pickle.dumps(features)) == features, "equality", features, "is not equal to its copy.")
    with step("shape", features):
        features.check(shape)
        own = tuple(features.shape(shape))
    with step("index", features):
        index = np.asarray(features.index(shape))
        require(index.shape == shape, "index", features, f"has an index of shape {index.shape}; x has {shape}.")
        complete = set(np.unique(index).tolist()) == set(range(prod(own)))
        require(complete, "index", features, f"must number features 0 … {prod(own) - 1}, each with an element.")
    with step("total", features):
        weights = np.random.default_rng(0).normal(size=(3, *shape))
        sums = np.stack([np.bincount(index.ravel(), row.ravel(), prod(own)) for row in weights])
        same = np.allclose(np.asarray(features.total(weights)), sums)
        require(same, "total", features, "sums weights by other features than those of its index.")
    _check_places(features, shape, own)


def _check_places(features: Features, shape: tuple[int, ...], own: tuple[int, ...]) -> None:
    with step("axes", features):
        inside = all(0 <= axis < len(own) for axis in features.axes(shape))
        require(inside, "axes", features, f"has neighbours along axes {features.axes(shape)} of {len(own)}.")
    with step("merged-axis", features):
        axis = features.merged_axis(shape)
        fits = axis is None or shape[:axis] + shape[axis + 1 :] == own
        require(fits, "merged-axis", features, f"merges axis {axis} of {shape} and has shape {own}.")
    with step("names", features):
        names = features.names()
        named = names is None or len(names) == prod(own)
        require(named, "names", features, f"has {len(names or [])} names for {prod(own)} features.")
