"""The entrants: ours, shap's, and every estimator of first-order values in shapiq.

An entrant gets a counted game, the case and a budget. ShaplEIG is left out: it chooses every query by itself, with
BoTorch, in seconds a query.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

import geex
from benchmarks.tables.cases import Case
from benchmarks.tables.exact import Game


class Counted:
    """A game that counts its rows."""

    def __init__(self, game: Game) -> None:
        self.game, self.rows = game, 0

    def __call__(self, masks: Any) -> np.ndarray:
        rows = np.atleast_2d(np.asarray(masks, float))
        self.rows += len(rows)
        return self.game(rows)


Entrant = Callable[[Counted, Case, int], Any]


def ours(game: Counted, case: Case, queries: int) -> geex.Explanation:
    q = len(case.exact)
    return geex.explain(
        game, np.ones(q), baseline=np.zeros(q), queries=queries, seed=case.seed, progress=False, method=geex.Shapley()
    )


def kernel(game: Counted, case: Case, queries: int) -> np.ndarray:
    import shap

    q = len(case.exact)
    np.random.seed(case.seed)  # noqa: NPY002 (shap draws from it)
    explainer = shap.KernelExplainer(game, np.zeros((1, q)))
    return np.asarray(explainer.shap_values(np.ones(q), nsamples=queries - 2, l1_reg=0, silent=True))


def permutation(game: Counted, case: Case, queries: int) -> np.ndarray:
    import shap

    q = len(case.exact)
    masker = shap.maskers.Independent(np.zeros((1, q)), max_samples=1)
    explainer = shap.PermutationExplainer(game, masker, seed=case.seed)
    return np.asarray(explainer(np.ones((1, q)), max_evals=queries - 1, silent=True).values[0])


def sampling(game: Counted, case: Case, queries: int) -> np.ndarray:
    import shap

    q = len(case.exact)
    np.random.seed(case.seed)  # noqa: NPY002 (shap draws from it)
    explainer = shap.SamplingExplainer(game, np.zeros((1, q)))
    return np.asarray(explainer.shap_values(np.ones(q), nsamples=queries // 2 - 1, silent=True))


def _shapiq(name: str, **options: Any) -> Entrant:
    def explain(game: Counted, case: Case, queries: int) -> np.ndarray:
        from shapiq import approximator

        estimator = getattr(approximator, name)(len(case.exact), random_state=case.seed, **options)
        found = estimator.approximate(queries, game)
        return np.array([found[(k,)] for k in range(len(case.exact))])

    return explain


# key -> title, function, fewest queries for q columns, and most columns (terms, memory or minutes beyond)
ENTRANTS: dict[str, tuple[str, Entrant, Callable[[int], int], int]] = {
    "ours": ("ours", ours, lambda q: 7, 5000),
    "kernel": ("KernelExplainer (shap)", kernel, lambda q: 2 * q, 5000),
    "permutation": ("PermutationExplainer (shap)", permutation, lambda q: 2 * q + 2, 5000),
    "sampling": ("SamplingExplainer (shap)", sampling, lambda q: 4 * q + 2, 5000),
    "kernelshap": ("KernelSHAP", _shapiq("KernelSHAP", pairing_trick=True), lambda q: 7, 5000),
    "leverage": ("LeverageSHAP", _shapiq("LeverageSHAP"), lambda q: 7, 5000),
    "odd": ("OddSHAP", _shapiq("OddSHAP"), lambda q: 7, 5000),
    "poly2": ("PolySHAP 2", _shapiq("PolySHAP", max_order=2, pairing_trick=True), lambda q: 7, 64),
    "poly3": ("PolySHAP 3", _shapiq("PolySHAP", max_order=3, pairing_trick=True), lambda q: 7, 15),
    "msr": ("RegressionMSR", _shapiq("RegressionMSR", index="SV"), lambda q: 7, 5000),
    "proxy": ("ProxySHAP", _shapiq("ProxySHAP", index="SV", max_order=1), lambda q: 7, 5000),
    "adjusted": (
        "ProxySHAP, adjusted",
        _shapiq("ProxySHAP", index="SV", max_order=1, adjustment=True),
        lambda q: 7,
        5000,
    ),
    "kadd": ("kADDSHAP", _shapiq("kADDSHAP", pairing_trick=True), lambda q: 7, 40),
    "svarm": ("SVARM", _shapiq("SVARM", pairing_trick=True), lambda q: 2 * q + 2, 30),
    "unbiased": ("UnbiasedKernelSHAP", _shapiq("UnbiasedKernelSHAP", pairing_trick=True), lambda q: 7, 5000),
    "permutations": ("PermutationSamplingSV", _shapiq("PermutationSamplingSV"), lambda q: 2 * q + 2, 5000),
}
