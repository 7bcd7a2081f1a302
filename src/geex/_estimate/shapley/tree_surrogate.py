"""Boosted trees over subsets, cross-fitted: g₋ᵢ(S) is made of the draws outside the fold of draw i.

    g(S) = Σ_leaves v [P ⊆ S, N ∩ S = ∅]        P, N: players that a leaf wants shown, and hidden

A leaf is a game of its own, whose Shapley values are known. With p players in P and n in N

    ξ_k = v (p − 1)! n! / (p + n)!  for k in P,    − v p! (n − 1)! / (p + n)!  for k in N

A tree is grown level by level on what the trees before it leave, for all folds at once: the sums of all splits are one
product of matrices. The number of trees is that with the least error at the draws that are left out.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import gammaln

# Folds of the draws; each has trees of its own.
FOLDS = 5
# Draws that trees are grown from, at most; they predict all others.
GROWN = 1024
# Trees that may pass without a smaller error, and how much smaller it must be.
TREES_PATIENCE, SMALLER = 10, 0.999
# What a split must gain beside rounding.
GAIN = 1e-9
# Trees after which an error this many times as large as the one to beat is given up.
EARLY_TREES, HOPELESS = 5, 4.0


@dataclass(frozen=True)
class Growth:
    """The depth of trees, their number at most, what each adds of what it finds, and answers that a leaf counts beside
    its own."""

    depth: int
    most: int
    rate: float
    shrunk: float


# One tree, as deep as its answers need; and many small ones.
SINGLE, BOOSTED = Growth(12, 2, 1.0, 1e-9), Growth(5, 100, 0.3, 0.3)


@dataclass(frozen=True, eq=False)
class Tree:
    """A tree for every fold: the players of the nodes of every level (folds, 2^level), and leaves (folds, 2^depth)."""

    paths: list[np.ndarray]
    leaves: np.ndarray


@dataclass(frozen=True, eq=False)
class TreeSurrogate:
    """g₋ᵢ of every draw less that of its mirror (n,), and the error left.

    sums (n + 1,): g₋ᵢ of every draw and its mirror together, and of x and the baseline. trees: of q players.
    """

    predicted: np.ndarray
    sums: np.ndarray
    error: float
    trees: tuple[Tree, ...]
    players: int

    @cached_property
    def values(self) -> np.ndarray:
        """The values of the mean of all folds (q,)."""
        found = [leaf_values(tree.paths, tree.leaves, self.players) for tree in self.trees]
        return np.asarray(sum(found, np.zeros(self.players)) / FOLDS)


@dataclass(frozen=True, eq=False)
class SubsetAnswers:
    """Contrasts (n, q), answers less f(x̊) to subsets and their mirrors (n,), the whole, and weights of errors (n,)."""

    contrasts: np.ndarray
    shown: np.ndarray
    hidden: np.ndarray
    whole: float
    shares: np.ndarray

    @property
    def sums(self) -> np.ndarray:
        """The sums of mirrored answers, and of those for x and the baseline (n + 1,)."""
        return np.append(self.shown + self.hidden, self.whole)


def fit_trees(given: SubsetAnswers, growth: Growth, beat: float) -> TreeSurrogate:
    """Return trees for the answers; fewer of them where the error to beat is out of reach."""
    n, q = given.contrasts.shape
    fold = np.full(n, -1)
    grown = np.unique(np.linspace(0, n - 1, min(n, GROWN)).round().astype(np.int64))
    fold[grown] = np.arange(len(grown)) % FOLDS
    forest = _Forest(given, fold)
    trees: list[Tree] = []
    best = TreeSurrogate(np.zeros(n), np.zeros(n + 1), np.inf, (), q)
    since = 0
    for number in range(growth.most):
        trees.append(forest.grow(growth))
        shown, hidden = (np.where(fold < 0, own.mean(axis=0), own[fold, np.arange(n)]) for own in forest.sides())
        predicted, sums = shown - hidden, np.append(shown + hidden, forest.fitted[:, 2 * n :].mean(axis=0).sum())
        error = float(np.average((given.shown - given.hidden - predicted) ** 2, weights=given.shares))
        if error < best.error * SMALLER:
            best, since = TreeSurrogate(predicted, sums, error, tuple(trees), q), number
        if number - since >= TREES_PATIENCE or (number >= EARLY_TREES and best.error > HOPELESS * beat):
            break
    return best


class _Forest:
    """Trees for every fold; `fitted` (folds, m) is their sum so far, over subsets, mirrors and the two ends."""

    def __init__(self, given: SubsetAnswers, fold: np.ndarray) -> None:
        q = given.contrasts.shape[1]
        rows = [given.contrasts > 0, given.contrasts < 0, np.ones((1, q), bool), np.zeros((1, q), bool)]
        # a last player, who is never shown, is that of nodes which are not split
        self.bits = np.pad(np.concatenate(rows), ((0, 0), (0, 1)))
        self.answers = np.concatenate([given.shown, given.hidden, [given.whole, 0.0]])
        self.every = np.arange(len(self.answers))
        folds = np.concatenate([fold, fold, [FOLDS, FOLDS]])
        self.grown = np.flatnonzero(folds >= 0)
        self.used = (folds >= 0) & (folds != np.arange(FOLDS)[:, None])
        self.columns = self.bits[self.grown, :-1].astype(np.float64)
        mean = self.used @ self.answers / self.used.sum(axis=1)
        self.fitted = np.repeat(mean[:, None], len(self.answers), axis=1)

    def sides(self) -> tuple[np.ndarray, np.ndarray]:
        """Return what is predicted of subsets and of their mirrors (folds, n)."""
        n = len(self.answers) // 2 - 1
        return self.fitted[:, :n], self.fitted[:, n : 2 * n]

    def grow(self, growth: Growth) -> Tree:
        """Add a tree for every fold."""
        left = np.where(self.used, self.answers - self.fitted, 0.0)
        node = np.zeros(left.shape, np.int64)
        paths: list[np.ndarray] = []
        while len(paths) < growth.depth:
            player = self._best(self._key(node, len(paths)), left, growth, FOLDS << len(paths))
            if (player == self.columns.shape[1]).all():
                break
            node = 2 * node + self.bits[self.every, player[self._key(node, len(paths))]]
            paths.append(player.reshape(FOLDS, -1))
        key = self._key(node, len(paths))
        size = np.bincount(key.ravel(), self.used.ravel(), FOLDS << len(paths))
        value = growth.rate * np.bincount(key.ravel(), left.ravel(), len(size)) / (size + growth.shrunk)
        self.fitted += value[key]
        return Tree(paths, value.reshape(FOLDS, -1))

    @staticmethod
    def _key(node: np.ndarray, level: int) -> np.ndarray:
        """Return the number of the node of every row over all folds (folds, m)."""
        return np.asarray((np.arange(FOLDS)[:, None] << level) + node)

    def _best(self, key: np.ndarray, left: np.ndarray, growth: Growth, nodes: int) -> np.ndarray:
        """Return the player of the best split of every node; the last one where there is none."""
        large = np.flatnonzero(np.bincount(key[self.used], minlength=nodes) > 1)
        player, place = np.full(nodes, self.columns.shape[1]), np.full(nodes, len(large))
        place[large] = np.arange(len(large))
        weights = np.zeros((2, len(large) + 1, len(self.grown)))
        at = place[key[:, self.grown]], np.arange(len(self.grown))
        weights[0][at], weights[1][at] = left[:, self.grown], self.used[:, self.grown]
        weights = weights[:, :-1]
        total = weights.sum(axis=2)[:, :, None]
        on = weights @ self.columns
        off = total - on
        gain = on[0] ** 2 / (on[1] + growth.shrunk) + off[0] ** 2 / (off[1] + growth.shrunk)
        gain[(on[1] < 0.5) | (off[1] < 0.5)] = -1.0
        best = gain.argmax(axis=1)
        unsplit = (total[0] ** 2 / (total[1] + growth.shrunk))[:, 0]
        split = gain[np.arange(len(large)), best] > unsplit * (1 + GAIN) + GAIN**2
        player[large[split]] = best[split]
        return np.asarray(player)


def leaf_values(paths: list[np.ndarray], values: np.ndarray, q: int) -> np.ndarray:
    """Return the sum of the Shapley values of all leaves (q,).

    paths: the players of the nodes of every level (t, 2^level); q where a node is not split. values (t, 2^depth): those
    of leaves, whose bits are the sides of their paths.
    """
    depth = len(paths)
    tree, leaf = np.nonzero(values)
    if not depth or not len(leaf):
        return np.zeros(q)
    value = values[tree, leaf]
    player = np.stack([own[tree, leaf >> (depth - level)] for level, own in enumerate(paths)], axis=1)
    side = np.stack([(leaf >> (depth - level - 1)) & 1 for level in range(depth)], axis=1)
    counted = player < q
    empty = ((player == q) & (side == 1)).any(axis=1)
    for level in range(1, depth):  # a player that comes again is counted once; its two sides exclude each other
        same = player[:, :level] == player[:, level : level + 1]
        counted[:, level] &= ~same.any(axis=1)
        empty |= (same & (side[:, :level] != side[:, level : level + 1])).any(axis=1)
    p, n = np.sum(counted & (side == 1), axis=1), np.sum(counted & (side == 0), axis=1)
    both = gammaln(p + n + 1)
    gain = np.exp(gammaln(np.maximum(p, 1)) + gammaln(n + 1) - both)
    loss = np.exp(gammaln(p + 1) + gammaln(np.maximum(n, 1)) - both)
    share = np.where(side == 1, gain[:, None], -loss[:, None]) * np.where(empty, 0, value)[:, None]
    return np.asarray(np.bincount(player.ravel(), (share * counted).ravel(), q + 1)[:q])
