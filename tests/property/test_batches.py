"""The batch size changes nothing: the same bytes for a model that answers row by row, rounding for a network."""

import numpy as np
import pytest

import geex
from geex.methods import Interpolated
from tests.helpers import explained

RNG = np.random.default_rng(5)
X = RNG.normal(size=(3, 7, 5)).astype(np.float32)
W = RNG.normal(size=105).astype(np.float32)


def row_by_row(z):
    return np.tanh((z.reshape(len(z), -1) * W).sum(axis=1))


@pytest.mark.parametrize(
    "method",
    [
        geex.GEEX(0.5),
        geex.GEEX(0.5, coupling="orthogonal"),
        geex.GEEX(0.4, smooth=(3, 0.7)),
        Interpolated(0.5, 7),
    ],
    ids=str,
)
def test_identical_bytes(method):
    runs = [explained(row_by_row, X, method, 3001, batch=batch) for batch in (1, 7, 999, 1000, None)]
    for run in runs[1:]:
        for name in ("values", "stderr"):
            assert getattr(run, name).tobytes() == getattr(runs[0], name).tobytes()
        assert (run.gap, run.gap_stderr, run.queries) == (runs[0].gap, runs[0].gap_stderr, runs[0].queries)


@pytest.mark.parametrize("batch", [1, 7, 999, 1000])
def test_batches_are_full_but_for_the_last(batch):
    asked = []

    def model(z):
        asked.append(len(z))
        return row_by_row(z)

    explanation = explained(model, X, geex.GEEX(0.5), 3001, batch=batch)
    ends, rest = asked[: 1 if batch > 1 else 2], asked[1 if batch > 1 else 2 :]
    assert sum(ends) == 2
    assert set(rest[:-1]) <= {batch}
    assert 0 < rest[-1] <= batch
    assert sum(asked) == explanation.queries <= 3001


@pytest.mark.slow
def test_a_real_network_agrees_to_rounding():
    torch = pytest.importorskip("torch")
    with torch.random.fork_rng():
        torch.manual_seed(0)
        net = torch.nn.Sequential(
            torch.nn.Conv2d(3, 8, 3), torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.Linear(120, 4)
        )
    x = torch.from_numpy(X)
    runs = [explained(net.eval(), x, geex.GEEX(0.5), 1001, batch=batch) for batch in (1, 7, 999, 1000)]
    scale = float(runs[0].stderr.max())
    for run in runs[1:]:
        assert float((run.values - runs[0].values).abs().max()) < 1e-4 * scale


def test_a_longer_run_goes_on_where_a_shorter_one_stopped():
    """The first queries are the same whatever the budget is."""
    seen = []

    def model(z):
        seen.append(z.copy())
        return row_by_row(z)

    explained(model, X, geex.GEEX(0.5), 202)
    short = np.concatenate(seen)
    seen.clear()
    explained(model, X, geex.GEEX(0.5), 2002)
    assert np.concatenate(seen)[: len(short)].tobytes() == short.tobytes()


def test_seeds_repeat_and_differ():
    one, again, other = (explained(row_by_row, X, geex.GEEX(0.5), 202, seed=seed) for seed in (1, 1, 2))
    assert one.values.tobytes() == again.values.tobytes()
    assert one.values.tobytes() != other.values.tobytes()


def test_no_global_random_state_is_read_or_written():
    before = np.random.get_state()[1].tobytes()  # noqa: NPY002
    explained(row_by_row, X, geex.GEEX(0.5), 202)
    assert np.random.get_state()[1].tobytes() == before  # noqa: NPY002


def test_a_batch_of_explicands_shares_masks_and_equals_single_runs():
    xs = np.stack([X, 2 * X, X + 1])
    together = geex.explain_batch(row_by_row, xs, method=geex.GEEX(0.5), queries=1001, progress=False)
    for x, explanation in zip(xs, together, strict=True):
        alone = explained(row_by_row, x, geex.GEEX(0.5), 1001)
        assert explanation.values.tobytes() == alone.values.tobytes()
