"""Trained models: forests, boosted and single trees, networks, support vectors, on 10 to 500 columns.

An absent column has its mean.
"""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from sklearn import datasets
from sklearn.ensemble import GradientBoostingRegressor, RandomForestClassifier, RandomForestRegressor
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVR
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from benchmarks.tables import exact
from benchmarks.tables.cases import Case, Setting

# Columns up to which exact values, and those of pairs, are from all subsets.
SMALL = 13

Data = tuple[np.ndarray, np.ndarray]


def _loaded(load: Callable[[], Any]) -> Callable[[], Data]:
    def data() -> Data:
        found = load()
        return np.asarray(found.data, float), np.asarray(found.target)

    return data


def _friedman(columns: int, rows: int) -> Callable[[], Data]:
    return lambda: datasets.make_friedman1(rows, columns, noise=1.0, random_state=0)


def _classes(columns: int, useful: int) -> Callable[[], Data]:
    return lambda: datasets.make_classification(600, columns, n_informative=useful, n_redundant=0, random_state=0)


def _sites(columns: int, rule: int) -> Callable[[], Data]:
    """Return binary columns, in threes of which one is 1, and targets by a few of them together."""

    def data() -> Data:
        rng = np.random.default_rng(rule)
        letters = rng.integers(0, 3, (1500, columns // 3))
        inputs = (letters[:, :, None] == np.arange(3)).reshape(len(letters), -1).astype(float)
        weights = rng.normal(size=(12, columns // 3)) * (rng.random((12, columns // 3)) < 0.15)
        return inputs, np.maximum(letters @ weights.T - 0.5, 0) @ rng.normal(size=12) + 0.3 * rng.normal(size=1500)

    return data


def _counts(columns: int) -> Callable[[], Data]:
    """Return skewed counts, most of them 0, of two classes, like the words of letters."""

    def data() -> Data:
        rng = np.random.default_rng(5)
        classes = rng.integers(0, 2, 1500)
        rates = rng.gamma(0.3, 1.0, (2, columns))
        return rng.poisson(rates[classes] * rng.gamma(0.5, 1.0, (1500, columns))).astype(float), classes

    return data


def _boosted(package: str, **options: Any) -> Any:
    """Return a regressor of LightGBM or XGBoost on one thread."""
    if package == "lightgbm":
        from lightgbm import LGBMRegressor

        return LGBMRegressor(n_jobs=1, verbose=-1, random_state=0, **options)
    from xgboost import XGBRegressor

    return XGBRegressor(n_jobs=1, random_state=0, **options)


def _cases(make: Callable[[], Any], data: Callable[[], Data], by_trees: bool = True) -> Callable[[int], Iterator[Case]]:
    def cases(count: int) -> Iterator[Case]:
        inputs, targets = data()
        model, absent = make().fit(inputs, targets), inputs.mean(axis=0)
        for number in np.random.default_rng(1).permutation(len(inputs))[:count]:
            yield _case(model, inputs[number], absent, int(number), by_trees)

    return cases


def _case(model: Any, x: np.ndarray, absent: np.ndarray, seed: int, by_trees: bool) -> Case:
    answers, target = model.predict, None
    if isinstance(model, RandomForestClassifier | DecisionTreeClassifier) or (
        not isinstance(model, SVR) and type(model[-1] if hasattr(model, "steps") else model) is MLPClassifier
    ):
        target = int(model.predict(x[None])[0])

        def answers(rows: np.ndarray) -> np.ndarray:
            return np.asarray(model.predict_proba(rows)[:, target])

    def game(masks: np.ndarray) -> np.ndarray:
        return np.asarray(answers(np.where(masks > 0.5, x, absent)), float)

    if len(x) <= SMALL:
        return Case(game, exact.by_subsets(game, len(x)), seed, exact.pairs_by_subsets(game, len(x)))
    return Case(game, exact.by_trees(model, x, absent, target), seed)


def _vectors(data: Callable[[], Data], gamma: float) -> Callable[[int], Iterator[Case]]:
    """Return cases of support vectors, whose kernel is a product over columns."""

    def cases(count: int) -> Iterator[Case]:
        inputs, targets = data()
        inputs = StandardScaler().fit_transform(inputs)
        model = SVR(gamma=gamma, C=10).fit(inputs, (targets - targets.mean()) / targets.std())
        weights, vectors, absent = model.dual_coef_[0], model.support_vectors_, np.zeros(inputs.shape[1])
        for number in np.random.default_rng(1).permutation(len(inputs))[:count]:
            x = inputs[number]
            shown, hidden = (np.exp(-gamma * (row - vectors) ** 2) for row in (x, absent))

            def game(masks: np.ndarray, x: np.ndarray = x) -> np.ndarray:
                return np.asarray(model.predict(masks * x))

            yield Case(game, exact.by_products(weights, shown, hidden), int(number))

    return cases


def _network(kind: type, **options: Any) -> Callable[[], Any]:
    return lambda: make_pipeline(
        StandardScaler(), kind(hidden_layer_sizes=(64, 64), max_iter=600, random_state=0, **options)
    )


DIABETES, WINE, CANCER, DIGITS = (
    _loaded(load)
    for load in (datasets.load_diabetes, datasets.load_wine, datasets.load_breast_cancer, datasets.load_digits)
)

MODELS = (
    Setting("diabetes, 10 columns, forest", True, _cases(lambda: RandomForestRegressor(100, random_state=0), DIABETES)),
    Setting("diabetes, 10 columns, network", True, _cases(_network(MLPRegressor), DIABETES)),
    Setting("wine, 13 columns, forest", True, _cases(lambda: RandomForestClassifier(100, random_state=0), WINE)),
    Setting("wine, 13 columns, network", True, _cases(_network(MLPClassifier), WINE)),
    Setting("cancer, 30 columns, forest", True, _cases(lambda: RandomForestClassifier(100, random_state=0), CANCER)),
    Setting("digits, 64 columns, forest", True, _cases(lambda: RandomForestClassifier(100, random_state=0), DIGITS)),
    Setting(
        "12 columns, boosted trees",
        False,
        _cases(lambda: GradientBoostingRegressor(random_state=0), _friedman(12, 400)),
    ),
    Setting("wine, 13 columns, support vectors", False, _cases(lambda: make_pipeline(StandardScaler(), SVR()), WINE)),
    Setting(
        "30 columns, one deep tree", True, _cases(lambda: DecisionTreeRegressor(random_state=0), _friedman(30, 2000))
    ),
    Setting("cancer, 30 columns, one tree", False, _cases(lambda: DecisionTreeClassifier(random_state=0), CANCER)),
    Setting("digits, 64 columns, one tree", False, _cases(lambda: DecisionTreeClassifier(random_state=0), DIGITS)),
    Setting("digits, 64 columns, LightGBM", True, _cases(lambda: _boosted("lightgbm"), DIGITS)),
    Setting("cancer, 30 columns, XGBoost", False, _cases(lambda: _boosted("xgboost", n_estimators=100), CANCER)),
    Setting("40 columns, support vectors", True, _vectors(_friedman(40, 400), 1 / 40)),
    Setting("digits, 64 columns, support vectors", False, _vectors(DIGITS, 1 / 64)),
    Setting("57 counts, forest", True, _cases(lambda: RandomForestClassifier(100, random_state=0), _counts(57))),
    Setting("57 counts, boosted trees", False, _cases(lambda: _boosted("lightgbm"), _counts(57))),
    Setting(
        "180 binary columns, boosted trees",
        True,
        _cases(lambda: _boosted("lightgbm", n_estimators=200), _sites(180, 1)),
    ),
    Setting(
        "180 binary columns, forest", False, _cases(lambda: RandomForestRegressor(50, random_state=0), _sites(180, 2))
    ),
    Setting("200 columns, boosted trees", True, _cases(lambda: _boosted("lightgbm"), _friedman(200, 1000))),
    Setting(
        "500 columns, forest", False, _cases(lambda: RandomForestClassifier(100, random_state=0), _classes(500, 20))
    ),
)
