"""Exact Shapley values: all subsets, trees, products over columns, weighted votes, maxima and unanimity games.

A game is a function of masks (n, q) of 0 and 1; its values are those of the q columns.
"""

from collections.abc import Callable
from math import ceil, comb
from typing import Any

import numpy as np
from numpy.polynomial.legendre import leggauss

Game = Callable[[np.ndarray], np.ndarray]


def by_subsets(game: Game, q: int) -> np.ndarray:
    """Return Shapley values by their definition, over all 2^q subsets."""
    masks = (np.arange(2**q)[:, None] >> np.arange(q)) & 1
    answers, sizes = game(masks.astype(float)), masks.sum(axis=1)
    chosen = np.array([float(comb(q, s)) for s in range(q + 1)])
    with np.errstate(divide="ignore"):
        inside, outside = 1 / (sizes * chosen[sizes]), 1 / ((q - sizes) * chosen[sizes])
    gain, loss = np.where(sizes > 0, inside, 0), np.where(sizes < q, outside, 0)
    return np.asarray([answers @ np.where(column > 0, gain, -loss) for column in masks.T])


def pairs_by_subsets(game: Game, q: int) -> np.ndarray:
    """Return the Shapley interaction values (q, q) of all pairs by their definition; 0 on the diagonal."""
    masks = (np.arange(2**q)[:, None] >> np.arange(q)) & 1
    answers, sizes = game(masks.astype(float)), masks.sum(axis=1)
    # of a subset with t of the pair's two columns, the other columns shown are s - t of q - 2
    weight = np.array(
        [[1 / ((q - 1) * comb(q - 2, s - t)) if 0 <= s - t <= q - 2 else 0 for s in range(q + 1)] for t in range(3)]
    )
    found = np.zeros((q, q))
    for j in range(q):
        for k in range(j):
            both = masks[:, j] + masks[:, k]
            found[j, k] = found[k, j] = np.sum(answers * weight[both, sizes] * np.where(both == 1, -1, 1))
    return found


def by_trees(model: Any, x: np.ndarray, absent: np.ndarray, target: int | None) -> np.ndarray:
    """Return the values of shap's TreeExplainer with the absent row as its background."""
    import shap

    explainer = shap.TreeExplainer(model, absent[None], feature_perturbation="interventional")
    values = np.asarray(explainer.shap_values(x[None], check_additivity=False)[0])
    return values if target is None else values[:, target]


def by_products(weights: np.ndarray, shown: np.ndarray, hidden: np.ndarray) -> np.ndarray:
    """Return the values of Σ_i w_i Π_k (shown_ik or hidden_ik), all positive, as an integral over the share shown."""
    q = shown.shape[1]
    nodes, shares = leggauss(ceil(q / 2) + 1)
    total = np.zeros(q)
    for node, share in zip((nodes + 1) / 2, shares / 2, strict=True):
        mixed = hidden + node * (shown - hidden)
        total += share * ((weights * np.prod(mixed, axis=1)) @ ((shown - hidden) / mixed))
    return total


def by_votes(weights: np.ndarray, quota: int) -> np.ndarray:
    """Return the Shapley-Shubik index of the game [Σ_k∈S w_k ≥ quota], by counting subsets of every size and weight."""
    q = len(weights)
    found = np.zeros(q)
    for k in range(q):
        counts = np.zeros((q, int(weights.sum()) + 1))
        counts[0, 0] = 1
        for weight in np.delete(weights, k):
            counts[1:, weight:] += counts[:-1, : counts.shape[1] - weight].copy()
        turned = counts[:, max(0, quota - int(weights[k])) : quota].sum(axis=1)
        found[k] = sum(turned[s] / (q * comb(q - 1, s)) for s in range(q))
    return found


def by_maximum(weights: np.ndarray) -> np.ndarray:
    """Return the values of the largest weight that is shown, all of them positive."""
    order = np.argsort(weights)
    found = np.zeros(len(weights))
    found[order] = np.cumsum(np.diff(weights[order], prepend=0) / np.arange(len(weights), 0, -1))
    return found


def by_unanimity(coefficients: np.ndarray, members: np.ndarray) -> np.ndarray:
    """Return the values of Σ_i c_i [all members of i are shown], members (n, q) of 0 and 1."""
    return np.asarray((coefficients / np.maximum(members.sum(axis=1), 1)) @ members)


def pairs_by_unanimity(coefficients: np.ndarray, members: np.ndarray) -> np.ndarray:
    """Return the Shapley interaction values (q, q) of pairs of the same game; 0 on the diagonal."""
    found = (coefficients / np.maximum(members.sum(axis=1) - 1, 1) * members.T) @ members
    np.fill_diagonal(found, 0)
    return np.asarray(found)


def by_parities(coefficients: np.ndarray, members: np.ndarray) -> np.ndarray:
    """Return the values of Σ_i c_i Π_{k∈i} e_k, e = 1 where shown and −1 where not: even products have none."""
    sizes = members.sum(axis=1)
    return np.asarray((np.where(sizes % 2 == 1, 2 * coefficients / np.maximum(sizes, 1), 0)) @ members)
