"""Regression: slow twins, exact recovery, games, and degenerate cases."""

import numpy as np
import pytest

import geex
from geex._arrays.linear_algebra import solver_precision
from geex._estimate.linear.design import Design
from geex._estimate.linear.fit import Fit
from geex._estimate.linear.knots import Knots
from geex._estimate.linear.leave_one_out import LeftOut, Residual
from geex._estimate.linear.marginal_likelihood import RATIOS, evidence
from geex._estimate.linear.posterior import Lift, posterior
from geex._estimate.linear.prior import Prior, priors
from geex._estimate.linear.prior_selection import Choice, drawn
from geex.errors import MethodError
from geex.methods import GE
from tests.games import banzhaf, glove, model_of, shapley
from tests.helpers import explained, raises
from tests.naive import naive_kernel

RNG = np.random.default_rng(0)


def naive_posterior(design, differences, reach, kernel, ratio):
    """Mean (k, q) and covariance over s² (q, q), as the formulas are printed."""
    d_k = np.diag(reach) @ kernel
    gain = d_k @ design.T @ np.linalg.inv(design @ kernel @ design.T + ratio * np.eye(len(design)))
    covariance = d_k @ np.diag(reach) - gain @ design @ kernel @ np.diag(reach)
    return (gain @ differences).T, covariance


@pytest.mark.parametrize("draws", [7, 40])
@pytest.mark.parametrize("prior", [Prior((4, 5), (), ((1.0, 0.0),)), Prior((4, 5), (0, 1), ((0.9, 1.3), (0.1, 0.0)))])
def test_posterior_equals_its_twin_on_either_side(draws, prior):
    design, differences, reach = RNG.normal(size=(draws, 20)), RNG.normal(size=(draws, 3)), RNG.normal(size=20)
    fast = posterior(Design(design, np.ones(20)), differences, Lift(reach, Knots((4, 5))), prior, 0.3)
    mean, covariance = naive_posterior(design, differences, reach, naive_kernel(prior), 0.3)
    np.testing.assert_allclose(fast.mean, mean, atol=1e-10)
    np.testing.assert_allclose(fast.variance(), np.diag(covariance), atol=1e-10)
    rows = RNG.normal(size=(4, 20))
    np.testing.assert_allclose(fast.covering(rows), np.diag(rows @ covariance @ rows.T), atol=1e-9)
    system = design @ naive_kernel(prior) @ design.T + 0.3 * np.eye(draws)
    np.testing.assert_allclose(fast.scale, np.diag(differences.T @ np.linalg.inv(system) @ differences) / draws)


@pytest.mark.parametrize("draws", [7, 40])
def test_conditioning_on_the_sum_equals_one_more_exact_row(draws):
    prior = Prior((4, 5), (0, 1), ((0.9, 1.3), (0.1, 0.0)))
    design, differences, reach = RNG.normal(size=(draws, 20)), RNG.normal(size=(draws, 2)), RNG.normal(size=20)
    totals = np.array([3.0, -1.0])
    fast = posterior(Design(design, np.ones(20)), differences, Lift(reach, Knots((4, 5))), prior, 0.3)
    fast = fast.summing_to(totals, np.ones(20))
    np.testing.assert_allclose(fast.mean.sum(axis=1), totals, atol=1e-9)
    weight = 1e-5
    more = np.concatenate([design, reach[None] / weight])
    mean, covariance = naive_posterior(
        more, np.concatenate([differences, totals[None] / weight]), reach, naive_kernel(prior), 0.3
    )
    np.testing.assert_allclose(fast.mean, mean, atol=1e-5)
    np.testing.assert_allclose(fast.variance(), np.diag(covariance), atol=1e-5)


def test_without_neighbours_it_is_ridge():
    design, differences = RNG.normal(size=(30, 8)), RNG.normal(size=(30, 1))
    lift = Lift(np.ones(8), Knots((8,)))
    fast = posterior(Design(design, np.ones(8)), differences, lift, Prior((8,), (), ((1.0, 0.0),)), 0.7)
    ridge = np.linalg.solve(design.T @ design + 0.7 * np.eye(8), design.T @ differences)
    np.testing.assert_allclose(fast.mean, ridge.T, atol=1e-12)


def test_priors_apply_as_their_matrix():
    grids = [(Knots((5, 6)), (0, 1)), (Knots((3, 5, 4)), (1, 2)), (Knots((9,)), ())]
    for prior in [prior for knots, axes in grids for prior in priors(knots, axes)]:
        rows = RNG.normal(size=(3, int(np.prod(prior.shape))))
        np.testing.assert_allclose(prior.apply(rows), rows @ naive_kernel(prior), atol=1e-12)
        assert np.linalg.eigvalsh(naive_kernel(prior)).min() > -1e-9
        np.testing.assert_allclose(np.diag(naive_kernel(prior)), prior.diagonal(Knots(prior.shape)))


def interpolation(knots):
    """U (p, q), column by column."""
    return knots.up(np.eye(int(np.prod(knots.shape)))).T


@pytest.mark.parametrize(
    "knots", [Knots((9, 7), (0, 1), 3), Knots((3, 8, 5), (1, 2), 2), Knots((11,), (0,), 4), Knots((4, 5))]
)
def test_knots_interpolate(knots):
    matrix = interpolation(knots)
    assert matrix.min() >= 0
    np.testing.assert_allclose(matrix.sum(1), 1)
    rows = RNG.normal(size=(3, len(matrix)))
    np.testing.assert_allclose(knots.down(rows), rows @ matrix, atol=1e-12)
    for prior in priors(knots, knots.axes):
        np.testing.assert_allclose(prior.diagonal(knots), np.diag(matrix @ naive_kernel(prior) @ matrix.T), atol=1e-12)


@pytest.mark.parametrize("draws", [7, 40])
def test_the_posterior_on_knots_equals_its_twin(draws):
    """A model of fewer coefficients: that of the features has U K Uᵀ as its kernel."""
    knots = Knots((7, 5), (0, 1), 2)
    matrix, reach = interpolation(knots), RNG.normal(size=35)
    prior = Prior(knots.shape, (0, 1), ((0.9, 1.3), (0.1, 0.0)))
    contrasts, differences = RNG.normal(size=(draws, 35)), RNG.normal(size=(draws, 2))
    lift = Lift(reach, knots)
    fast = posterior(Design(knots.down(contrasts * reach)), differences, lift, prior, 0.3)
    kernel = matrix @ naive_kernel(prior) @ matrix.T
    mean, covariance = naive_posterior(contrasts * reach, differences, reach, kernel, 0.3)
    np.testing.assert_allclose(fast.mean, mean, atol=1e-9)
    np.testing.assert_allclose(fast.variance(), np.diag(covariance), atol=1e-9)
    rows, totals = RNG.normal(size=(4, 35)), np.array([3.0, -1.0])
    np.testing.assert_allclose(fast.covering(rows), np.diag(rows @ covariance @ rows.T), atol=1e-9)
    summed, ones = fast.summing_to(totals, np.ones(35)), np.ones(35)
    np.testing.assert_allclose(summed.mean.sum(axis=1), totals, atol=1e-9)
    direction = covariance @ ones
    left = covariance - np.outer(direction, direction) / (ones @ direction)
    np.testing.assert_allclose(summed.variance(), np.diag(left), atol=1e-9)


@pytest.mark.parametrize("draws", [1, 2, 12])
def test_evidence_equals_the_density(draws):
    rng = np.random.default_rng(draws)
    gram = (root := rng.normal(size=(draws, 5))) @ root.T + 0.1 * np.eye(draws)
    differences = rng.normal(size=(draws, 2))

    def density(d, ratio):
        system = gram + ratio * np.eye(draws)
        scale = d @ np.linalg.solve(system, d) / draws
        return -0.5 * (draws * np.log(scale) + np.linalg.slogdet(system)[1])

    likelihood, ratios = evidence(gram, differences)
    np.testing.assert_allclose(ratios, RATIOS * np.trace(gram) / draws)
    for d, found in zip(differences.T, likelihood.T, strict=True):
        np.testing.assert_allclose(found, [density(d, ratio) for ratio in ratios], rtol=1e-9)


def test_a_gram_that_rounding_made_indefinite_leaves_the_larger_noises_as_they_are():
    rng = np.random.default_rng(7)
    sound = (root := rng.normal(size=(40, 8))) @ root.T
    rounded = sound + (noise := rng.normal(size=(40, 40)) * 1e-3) + noise.T
    differences = rng.normal(size=(40, 2))
    (solver_precision, _), (found, _) = (evidence(gram, differences) for gram in (sound, rounded))
    assert np.isneginf(found[RATIOS < 1e-4]).all()
    np.testing.assert_allclose(found[RATIOS > 0.1], solver_precision[RATIOS > 0.1], rtol=1e-2)
    assert np.isfinite(found.max())


def test_on_an_accelerator_contrasts_have_more_digits_than_its_products_may(monkeypatch):
    """float32 products may be made of ten bits there, and G + λ is then not positive for the λ that matter."""
    monkeypatch.setattr("geex._arrays.linear_algebra.accelerated", lambda array: True)
    assert solver_precision(np.zeros((2, 3), np.float32)).dtype == np.float64
    monkeypatch.setattr("geex._arrays.linear_algebra.accelerated", lambda array: False)
    assert solver_precision(np.zeros((2, 3), np.float32)).dtype == np.float32


def test_grams_of_candidates_share_their_parts():
    rows = np.random.default_rng(1).normal(size=(6, 30))
    design, candidates = Design(rows), priors(Knots((5, 6)), (0, 1))
    for prior in candidates:
        np.testing.assert_allclose(design.kernel(prior), rows @ naive_kernel(prior) @ rows.T, atol=1e-10)
    assert len(design._kernels) < sum(len(prior.mixture) for prior in candidates)


def test_values_of_an_output_do_not_depend_on_the_others():
    weights = RNG.normal(size=(36, 4)) * [1, 0.1, 3, 0]

    def model(z):
        return np.tanh(z.reshape(len(z), -1) @ weights) + [0, 0, 0, 1] * z[:, 2, 2:3]

    for method in (geex.Regression(), geex.Regression(complete=True), geex.Guided()):
        every = explained(model, np.ones((6, 6)), method, 302, target="all")
        one = geex.estimate(every, target=2)
        np.testing.assert_allclose(one.values, every.values[2], rtol=1e-9)
        np.testing.assert_allclose(one.interval()[0], every.interval()[0][2], rtol=0.1)


@pytest.mark.parametrize("of", [geex.Presence(0.5), geex.GEEX(0.5)], ids=str)
@pytest.mark.parametrize("shape", [(10,), (4, 5), (2, 3, 4)])
def test_linear_models_are_recovered(of, shape):
    """To 1e-6 with more draws than features."""
    slope, x = RNG.normal(size=shape), RNG.normal(size=shape)
    explanation = explained(lambda z: (z * slope).reshape(len(z), -1).sum(1), x, geex.Regression(of), 202)
    np.testing.assert_allclose(explanation.values, slope * x, atol=1e-6 * np.abs(slope * x).max())


@pytest.mark.parametrize("features", [geex.Elements(), geex.Pixels(channels=0)], ids=str)
def test_slopes_by_regression_are_slopes(features):
    """Whatever the baseline is, x itself too; and in units of the answer for one of x, with the errors of a score."""
    slope, x = np.random.default_rng(3).normal(size=(2, 2, 3, 4))
    wanted = slope if features == geex.Elements() else slope.sum(0)
    for baseline in (None, x):
        method = geex.Regression(GE(0.1))
        found = explained(lambda z: (z * slope).sum((1, 2, 3)), x, method, 202, features=features, baseline=baseline)
        np.testing.assert_allclose(found.values, wanted, atol=1e-6)
        assert found.estimand.quantity is geex.Quantity.GRADIENT
    curved = [explained(lambda z: (z**3).sum(1), np.arange(2.0, 5), method, 4002) for method in (GE(0.1), method)]
    for found in curved:
        assert np.abs((found.values - 3 * np.arange(2.0, 5) ** 2 - 0.03) / found.stderr).max() < 4
    with raises(MethodError, "slopes-not-additive"):
        explained(lambda z: z.sum(1), np.ones(3), geex.Regression(GE(0.1), complete=True), 202)


def test_banzhaf_values_of_a_game():
    explanation = explained(model_of(glove, 6), np.ones(6), geex.Regression(geex.Presence(0.5)), 40002)
    np.testing.assert_allclose(explanation.values, banzhaf(glove, 6), atol=0.02)
    assert abs(explanation.values[5]) < 4 * explanation.stderr[5]


@pytest.mark.parametrize(("draws", "level"), [(50, 0.95), (100, 0.5)])
@pytest.mark.slow
def test_intervals_cover_at_any_budget(draws, level):
    """400 seeds, of a game with interactions and a dummy: every player's interval covers as often as it says (z = 4).

    Fewer than some four draws for each player cover a little less: 89% at 20.
    """

    def game(z):
        return np.tanh(z[:, 0] + z[:, 1] * z[:, 2] - z[:, 3]) + 0.2 * z[:, 4:11].sum(1)

    players = ((np.arange(2**12)[:, None] >> np.arange(12)) & 1).astype(float)
    answers = game(players)
    true = np.array([answers[players[:, k] == 1].mean() - answers[players[:, k] == 0].mean() for k in range(12)])
    covered, whole = np.zeros(12), 0
    for seed in range(400):
        found = explained(game, np.ones(12), geex.Regression(), 2 * draws + 2, seed=seed)
        low, high = found.interval(level)
        covered += (low <= true) & (true <= high)
        region = found.region(np.arange(12) < 4, level)
        whole += region.low <= true[:4].sum() <= region.high
    noise = 4 * np.sqrt(level * (1 - level) / 400)
    assert np.abs(np.append(covered, whole) / 400 - level).max() < noise


def slopes_of(left):
    return np.concatenate([slopes for _, slopes in left.slopes()])


def test_the_unbiased_residual_equals_its_twin():
    """Leave one draw out, fit, and look at the residual of that one draw."""
    prior, ratio = Prior((4, 5), (0, 1), ((0.9, 1.3), (0.1, 0.0))), 0.3
    for draws in (7, 40):
        contrasts, reach = RNG.choice([-1.0, 1.0], size=(draws, 20)), RNG.normal(size=20)
        differences, lift = RNG.normal(size=(draws, 2)), Lift(reach, Knots((4, 5)))
        design = Design(contrasts, reach)
        fit = posterior(design, differences, lift, prior, ratio)
        left = LeftOut(design, differences, fit, Residual(1.0, False, design.blocks, np.ones(20)), lambda rows: rows)
        fast = fit.mean[:, None, :] + left.residuals.T[:, :, None] * slopes_of(left)
        for i in range(draws):
            others = np.arange(draws) != i
            without, _ = naive_posterior(
                contrasts[others] * reach, differences[others], reach, naive_kernel(prior), ratio
            )
            residual = differences[i] - without @ contrasts[i]
            np.testing.assert_allclose(fast[:, i, :], without + residual[:, None] * contrasts[i], atol=1e-8)


@pytest.mark.parametrize("draws", [7, 60])
def test_the_unbiased_residual_on_knots_and_of_a_known_sum_equals_its_twin(draws):
    """Contrasts less their mean over what differs, for fits that know their sum: without and with each draw."""
    rng = np.random.default_rng(draws)
    knots, reach, ratio, moment = Knots((7, 5), (0, 1), 2), rng.normal(size=35), 0.3, 0.7
    reach[[3, 8]] = 0
    there = reach != 0
    prior = Prior(knots.shape, (0, 1), ((0.9, 1.3), (0.1, 0.0)))
    contrasts, differences = rng.choice([-1.0, 1.0], (draws, 35)) * there, rng.normal(size=(draws, 2))
    lowered, lift, totals = knots.down(contrasts * reach), Lift(reach, knots), np.array([1.0, -2.0])

    def fit_of(some):
        found = posterior(Design(lowered[some]), differences[some], lift, prior, ratio)
        return found.summing_to(totals, np.ones(35))

    fit = fit_of(np.arange(draws))
    residual = Residual(moment, True, lambda: iter((contrasts[:4], contrasts[4:])), np.ones(35))
    left = LeftOut(Design(lowered), differences, fit, residual, lambda rows: rows)
    centred = (contrasts - contrasts.sum(1, keepdims=True) / there.sum()) * there
    terms = []
    for i in range(draws):
        without = fit_of(np.arange(draws) != i).mean
        missed = differences[i] - without @ contrasts[i]
        terms.append(without + missed[:, None] * centred[i] / moment)
    terms = np.stack(terms, axis=1)
    fast = fit.mean[:, None, :] + left.residuals.T[:, :, None] * slopes_of(left)
    np.testing.assert_allclose(fast, terms, atol=1e-8)
    np.testing.assert_allclose(fit.mean + left.shift(), terms.mean(axis=1), atol=1e-8)
    np.testing.assert_allclose(terms.sum(axis=2), np.broadcast_to(totals[:, None], (2, draws)), atol=1e-8)
    rows = rng.integers(0, 2, (3, 35)).astype(float)
    np.testing.assert_allclose(left.shift(rows), (terms.mean(axis=1) - fit.mean) @ rows.T, atol=1e-8)
    np.testing.assert_allclose(left.stderr(rows), (terms @ rows.T).std(axis=1, ddof=1) / draws**0.5, atol=1e-8)


@pytest.mark.parametrize("draws", [7, 40])
def test_the_jackknife_on_knots_equals_its_twin(draws):
    """Leave one draw out and fit again: with fewer draws than coefficients, and with more."""
    rng = np.random.default_rng(draws)
    knots, reach, ratio = Knots((7, 5), (0, 1), 2), rng.normal(size=35), 0.3
    prior = Prior(knots.shape, (0, 1), ((0.9, 1.3), (0.1, 0.0)))
    lowered, differences = knots.down(rng.normal(size=(draws, 35)) * reach), rng.normal(size=(draws, 2))
    lift = Lift(reach, knots)
    fit = posterior(Design(lowered), differences, lift, prior, ratio)
    left = LeftOut(Design(lowered), differences, fit, None, lambda rows: rows)
    others = [np.arange(draws) != i for i in range(draws)]
    refits = [posterior(Design(lowered[some]), differences[some], lift, prior, ratio).mean for some in others]
    terms = draws * (fit.mean[:, None, :] - np.stack(refits, axis=1))
    np.testing.assert_allclose(left.residuals.T[:, :, None] * slopes_of(left), terms, atol=1e-8)
    np.testing.assert_allclose(left.stderr(), terms.std(axis=1, ddof=1) / draws**0.5, atol=1e-8)
    rows = rng.normal(size=(3, 35))
    np.testing.assert_allclose(left.stderr(rows), (terms @ rows.T).std(axis=1, ddof=1) / draws**0.5, atol=1e-8)


def test_rivals_are_drawn_by_their_weight():
    candidates = [Choice(0, Prior((1,), (), ((1.0, 0.0),)), float(ratio)) for ratio in range(6)]
    likelihood = np.log([1e-9, 0.2, 0.3, 1e-9, 0.5, 1e-9])
    for order in (np.arange(6), np.arange(6)[::-1]):
        assert sorted(one.ratio for one in drawn(candidates, likelihood, order)) == [1, 2, 4, 4]
    assert set(drawn(candidates, 100 * likelihood, np.arange(6))) == {candidates[4]}


def test_completeness_by_conditioning():
    model, x = model_of(glove, 6), np.ones(6)
    explanation = explained(model, x, geex.Regression(geex.Presence(0.5), complete=True), 402)
    assert explanation.gap == pytest.approx(0, abs=1e-9)
    assert explanation.gap_stderr < 1e-6
    assert explanation.adds_up
    assert not explained(model, x, geex.Regression(geex.Presence(0.5)), 402).adds_up


def test_every_output_in_one_solve():
    weights = RNG.normal(size=(6, 3))
    every = explained(lambda z: np.tanh(z @ weights), np.ones(6), geex.Regression(), 302, target="all")
    assert every.values.shape == (3, 6)
    assert np.isfinite(every.stderr).all()


def test_many_outputs_look_at_every_fit_a_few_times(monkeypatch):
    """Outputs that chose priors of their own have a fit each; that all were looked at for every one took minutes."""
    weights = np.random.default_rng(0).normal(size=(12, 9, 9))
    looked = []
    errors_of = Fit.stderr.fget
    monkeypatch.setattr(Fit, "stderr", property(lambda fit: looked.append(fit) or errors_of(fit)))

    def model(z):
        return np.tanh(np.einsum("nij,kij->nk", z, weights))

    every = explained(model, np.ones((9, 9)), geex.Guided(), 200, target="all")
    assert len(looked) <= 3 * len(weights)  # of the values, of their sum, and of the top tenth
    sizes = np.abs(every.values[3])
    top = every.region(sizes >= np.sort(sizes, axis=None)[-8])
    assert (top.high - top.low)[3] / 2 == pytest.approx(every.reach[3], rel=1e-9)


@pytest.mark.parametrize("queries", [6, 8, 12])
@pytest.mark.parametrize("shape", [(1,), (1, 1), (6, 7)])
def test_hardly_any_draws(shape, queries):
    explanation = explained(lambda z: z.reshape(len(z), -1).sum(1), np.ones(shape), geex.Regression(), queries)
    assert np.isfinite(explanation.values).all()
    assert np.isfinite(explanation.stderr).all()


def test_constant_and_saturated_models():
    with pytest.warns(geex.errors.LittleToExplain):
        explanation = explained(lambda z: np.full(len(z), 2.0), np.ones((3, 4)), geex.Regression(), 60)
    assert (explanation.values == 0).all()
    assert np.isfinite(explanation.stderr).all()


def test_missingness_is_exact():
    x = np.zeros((5, 6))
    x[2, 3] = x[1, 1] = 1.0
    explanation = explained(lambda z: z.sum((1, 2)) ** 2, x, geex.Regression(), 202)
    assert (explanation.values[x == 0] == 0).all()
    assert (explanation.stderr[x == 0] == 0).all()
    assert (explanation.values[x != 0] != 0).all()


@pytest.mark.parametrize("features", [geex.Elements(), geex.Pixels(channels=0)])
@pytest.mark.parametrize("of", [geex.Presence(0.5), geex.GEEX(0.5)], ids=str)
def test_numpy_and_torch_agree(of, features):
    torch = pytest.importorskip("torch")
    slope, x = RNG.normal(size=(2, 3, 4)), RNG.normal(size=(2, 3, 4))
    one = explained(lambda z: (z * slope).sum((1, 2, 3)), x, geex.Regression(of), 202, features=features)
    tensor = torch.from_numpy(slope)
    other = explained(
        lambda z: (z * tensor).sum((1, 2, 3)), torch.from_numpy(x), geex.Regression(of), 202, features=features
    )
    assert isinstance(other.values, torch.Tensor)
    np.testing.assert_allclose(one.values, other.values.numpy(), atol=1e-5)


@pytest.mark.parametrize("method", [geex.Shapley(), geex.Regression(complete=True)], ids=lambda m: type(m).__name__)
def test_values_that_add_up_in_torch(method):
    torch = pytest.importorskip("torch")
    slope, x = np.random.default_rng(2).normal(size=(2, 4, 5))
    tensor = torch.from_numpy(slope)
    explanation = explained(lambda z: (z * tensor).sum((1, 2)), torch.from_numpy(x), method, 202)
    np.testing.assert_allclose(explanation.values.numpy(), slope * x, atol=1e-5)
    assert np.isfinite(explanation.stderr.numpy()).all()


def test_shapley_values_of_a_game_and_their_sum():
    """Within 0.02 of the exact values at 20,000 queries, the dummy included; exact sum at any budget."""
    for queries, tolerance in ((40, 1.0), (20002, 0.02)):
        explanation = explained(model_of(glove, 6), np.ones(6), geex.Shapley(), queries)
        np.testing.assert_allclose(explanation.values, shapley(glove, 6), atol=tolerance)
        assert explanation.gap == pytest.approx(0, abs=1e-8)
        assert explanation.estimand.quantity is geex.Quantity.SHAPLEY


def test_shapley_regression_is_nearer_than_the_score_at_equal_queries():
    truth = shapley(glove, 6)

    def error(method, seed):
        return np.abs(explained(model_of(glove, 6), np.ones(6), method, 202, seed=seed).values - truth).mean()

    regression, score = (
        np.mean([error(method, seed) for seed in range(20)]) for method in (geex.Shapley(), geex.Presence())
    )
    assert regression < 0.5 * score


@pytest.mark.parametrize("shape", [(1,), (2,), (3, 1)])
def test_shapley_of_hardly_any_features(shape):
    explanation = explained(lambda z: z.reshape(len(z), -1).sum(1) ** 2, np.ones(shape), geex.Shapley(), 40)
    assert explanation.values.sum() == pytest.approx(np.prod(shape) ** 2)
    np.testing.assert_allclose(explanation.values, np.prod(shape), atol=1e-6)


@pytest.mark.parametrize(
    ("of", "code"),
    [
        (geex.Presence(), "alpha-not-half"),
        (geex.Presence(0.2), "alpha-not-half"),
        (geex.GEEX(1.0, family=geex.Laplace()), "family-not-normal"),
    ],
    ids=str,
)
def test_coefficients_that_are_not_the_values_are_refused(of, code):
    with raises(MethodError, code):
        explained(lambda z: z.sum(1), np.ones(5), geex.Regression(of), 202)


@pytest.mark.parametrize("of", [geex.Shapley(), geex.Guided(), geex.Regression(complete=True)], ids=str)
def test_what_is_a_regression_already_is_refused(of):
    with raises(MethodError, "of-regresses"):
        geex.Regression(of)


def test_masks_of_features_answer_no_question_about_other_features():
    slope = np.arange(1.0, 7)
    explanation = explained(
        lambda z: z @ slope, np.ones(6), geex.Regression(), 202, features=geex.Groups([0, 0, 1, 1, 2, 2])
    )
    for features in (geex.Groups([0, 1, 0, 1, 2, 2]), geex.Elements()):
        with raises(geex.errors.FeaturesError, "features-of-another-run"):
            geex.estimate(explanation, features=features)
    again = geex.estimate(explanation, features=geex.Groups([0, 0, 1, 1, 2, 2]))
    np.testing.assert_array_equal(again.values, explanation.values)


@pytest.mark.parametrize("scale", [1e-300, 1e-160, 1e150, 1e160, 1e300])
@pytest.mark.parametrize("method", [geex.Regression(), geex.Shapley(), geex.Guided()], ids=str)
def test_inputs_of_any_size(method, scale):
    x = np.random.default_rng(0).uniform(0.5, 1, (9, 9))
    usual = explained(lambda z: z[:, 2:5, 3:6].sum((1, 2)), x, method, 200)
    scaled = explained(lambda z: (z / scale)[:, 2:5, 3:6].sum((1, 2)), x * scale, method, 200)
    np.testing.assert_allclose(scaled.values, usual.values, atol=0.02)


@pytest.mark.parametrize("scale", [1e-30, 1e-20, 1e20, 1e30])
@pytest.mark.parametrize("shape", [(20,), (3, 4), (120, 120)], ids=str)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_noise_of_any_size(scale, shape, dtype):
    x = np.random.default_rng(0).uniform(0.5, 1, shape)

    def model(z, unit):
        return np.tanh((z.astype(np.float64) / unit).mean(tuple(range(1, z.ndim))) - 0.3)

    usual, scaled = (
        explained(lambda z, unit=unit: model(z, unit), (unit * x).astype(dtype), geex.Regression(geex.GEEX()), 200)
        for unit in (1, scale)
    )
    for name in ("values", "stderr", "gap_stderr", "reach"):
        wanted = getattr(usual, name)
        np.testing.assert_allclose(getattr(scaled, name), wanted, rtol=1e-3, atol=1e-3 * np.max(np.abs(wanted)))


@pytest.mark.parametrize("scale", [1e-200, 1e120])
def test_noise_whose_square_is_no_number_is_refused(scale):
    with raises(MethodError, "sigma-out-of-range"):
        explained(lambda z: z.sum(1), scale * np.arange(1.0, 6), geex.Regression(geex.GEEX()), 100)


@pytest.mark.parametrize(
    ("setting", "code"),
    [
        ({"choice": 0}, "choice-too-small"),
        ({"choice": 2.5}, "choice-not-whole"),
        ({"most": 0}, "most-too-small"),
        ({"most": "all"}, "most-not-whole"),
    ],
    ids=str,
)
def test_numbers_of_draws_are_checked(setting, code):
    with raises(MethodError, code):
        geex.Regression(**setting)


@pytest.mark.slow
def test_a_sum_without_noise_on_knots_in_float32():
    """λ is then less than what products of float32 are wrong by."""
    x = np.random.default_rng(0).uniform(0.2, 1, (120, 120)).astype(np.float32)
    weights = np.exp(-((np.arange(120) - 60) ** 2) / 200)
    found = explained(lambda z: np.einsum("nij,i,j->n", z.astype(np.float64), weights, weights), x, geex.Guided(), 1000)
    truth = x * np.outer(weights, weights)
    assert np.abs(found.values - truth).mean() < 0.1 * truth.mean()
    assert found.stderr.max() < truth.max()


def test_features_that_equal_the_baseline_are_no_coefficients():
    """25 of 40 features differ, and there are 43 pairs: enough to recover a linear model."""
    rng = np.random.default_rng(0)
    x, slope = rng.normal(size=40), rng.normal(size=40)
    x[:15] = 0
    found = geex.explain(lambda z: z @ slope, x, method=geex.Regression(), queries=89, progress=False)
    np.testing.assert_allclose(found.values, x * slope, atol=1e-6)
