"""Trained models on 4 to 64 columns, and exact Shapley values over a background.

Exact values are those of shap's TreeExplainer for trees, and of all subsets for other models.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from sklearn import datasets
from sklearn.ensemble import (
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingRegressor,
    RandomForestRegressor,
)
from sklearn.neighbors import KNeighborsRegressor
from sklearn.neural_network import MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVR
from sklearn.tree import DecisionTreeRegressor

Data = tuple[np.ndarray, np.ndarray]


@dataclass(frozen=True)
class Setting:
    """A model: how it is made, its data, the method that scores rows, and whether the process was developed on it."""

    name: str
    make: Callable[[], Any]
    data: Callable[[], Data]
    score: str = "predict"
    trees: bool = True
    developed: bool = False

    def fitted(self) -> "Fitted":
        inputs, targets = self.data()
        model = self.make().fit(inputs, targets)
        return Fitted(model, getattr(model, self.score), inputs, self.trees)


@dataclass(frozen=True)
class Fitted:
    """A fitted model and its data."""

    model: Any
    score: Callable[[np.ndarray], np.ndarray]
    inputs: np.ndarray
    trees: bool

    def exact(self, x: np.ndarray, background: np.ndarray) -> np.ndarray:
        """Return the Shapley values of the mean over the background."""
        if not self.trees:
            return by_all_subsets(self.score, x, background)
        import shap

        explainer = shap.TreeExplainer(self.model, data=background, feature_perturbation="interventional")
        return np.asarray(explainer.shap_values(x[None], check_additivity=False)).reshape(len(x))


def by_all_subsets(score: Callable[[np.ndarray], np.ndarray], x: np.ndarray, background: np.ndarray) -> np.ndarray:
    """Return the Shapley values of the mean over the background, from all 2^p subsets."""
    count = len(x)
    masks = (np.arange(2**count)[:, None] >> np.arange(count) & 1).astype(bool)
    worth = sum(np.asarray(score(np.where(masks, x, row))) for row in background) / len(background)
    sizes, factorial = masks.sum(axis=1), np.cumprod([1.0, *range(1, count + 1)])
    weights = factorial[sizes] * factorial[np.maximum(count - sizes - 1, 0)] / factorial[count]
    values = np.zeros(count)
    for player in range(count):
        without = np.flatnonzero(~masks[:, player])
        values[player] = weights[without] @ (worth[without | 1 << player] - worth[without])
    return values


def _loaded(load: Callable[[], Any], target: Callable[[np.ndarray], np.ndarray] = np.asarray) -> Data:
    data = load()
    return np.asarray(data.data, float), target(data.target)


def _scaled(make: Callable[[], Any]) -> Any:
    return make_pipeline(StandardScaler(), make())


DIABETES, CANCER, WINE = (
    partial(_loaded, load) for load in (datasets.load_diabetes, datasets.load_breast_cancer, datasets.load_wine)
)
THREES = partial(_loaded, datasets.load_digits, lambda digit: digit == 3)
FRIEDMAN_1 = partial(datasets.make_friedman1, 400, 12, noise=1.0, random_state=0)
FRIEDMAN_2 = partial(datasets.make_friedman2, 400, noise=1.0, random_state=0)
FOREST = partial(RandomForestRegressor, 100, random_state=0)
NETWORK = partial(_scaled, partial(MLPRegressor, hidden_layer_sizes=(64, 64), max_iter=600, random_state=0))
BOOSTED = partial(GradientBoostingClassifier, random_state=0)

MODELS = (
    Setting("diabetes, 10 columns, forest", FOREST, DIABETES, developed=True),
    Setting("diabetes, 10 columns, network", NETWORK, DIABETES, trees=False, developed=True),
    Setting("breast cancer, 30 columns, boosting (margin)", BOOSTED, CANCER, "decision_function", developed=True),
    Setting(
        "Friedman 1, 12 columns, boosting",
        partial(GradientBoostingRegressor, random_state=0),
        FRIEDMAN_1,
        developed=True,
    ),
    Setting("wine, 13 columns, support vectors", partial(_scaled, SVR), WINE, trees=False, developed=True),
    Setting("wine, 13 columns, forest", FOREST, WINE),
    Setting("breast cancer, 30 columns, one tree", partial(DecisionTreeRegressor, random_state=0), CANCER),
    Setting(
        "diabetes, 10 columns, histogram boosting", partial(HistGradientBoostingRegressor, random_state=0), DIABETES
    ),
    Setting("Friedman 2, 4 columns, network", NETWORK, FRIEDMAN_2, trees=False),
    Setting(
        "wine, 13 columns, nearest neighbours", partial(_scaled, partial(KNeighborsRegressor, 7)), WINE, trees=False
    ),
    Setting("digits, 64 columns, forest", partial(RandomForestRegressor, 50, random_state=0), THREES),
)


def cases(setting: Setting, size: int, count: int) -> Iterator[tuple[Fitted, np.ndarray, np.ndarray, int]]:
    """Yield the fitted model, rows, a background without them, and seeds."""
    fitted = setting.fitted()
    order = np.random.default_rng(7).permutation(len(fitted.inputs))
    for seed in range(count):
        yield fitted, fitted.inputs[order[-1 - seed]], fitted.inputs[order[:size]], seed
