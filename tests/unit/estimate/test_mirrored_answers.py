"""Answers in the order of draws: a subset, then its mirror."""

import numpy as np

import geex
from geex._estimate.shapley.mirrored_answers import mirrored_answers
from tests.helpers import explained


def test_answers_are_those_of_subsets_and_their_mirrors():
    weights = np.array([1.0, 10.0, 0.0, 100.0])
    found = explained(lambda z: z @ weights, np.array([1.0, 1, 0, 1]), geex.Shapley(), 8)
    contrasts, both = mirrored_answers(found.record.method_answers()[0])
    players = weights[[0, 1, 3]]
    np.testing.assert_allclose(both[:, 0, 0], (contrasts > 0) @ players)
    np.testing.assert_allclose(both[:, 1, 0], (contrasts < 0) @ players)
