"""The score estimator as a base of methods: values are means of answers times weights."""

from geex._arrays.arrays import Array
from geex._estimate.answers import Answers
from geex._estimate.score_function import estimate
from geex._protocols import Estimate, Method


class ScoreMethod(Method):
    """Base of methods whose values are means of answers times weights; `estimate` is there already.

    A subclass has `search` and `estimand`. Its search declares the weights of the answers.

    Notes
    -----
    For mirrored draws the value is ξ = 1/n Σ_i d_i w_i with d_i = (f(z_i) − f(z̃_i))/2, for single ones d_i = f(z_i).
    Standard errors come from the differences between consecutive draws.
    """

    def estimate(self, answers: Answers) -> Estimate:
        return estimate(answers)

    def regions(self, answers: Answers, rows: Array) -> Estimate:
        """The estimate of sums over regions, rows (r, p) of 0 and 1, instead of features."""
        return estimate(answers, rows)
