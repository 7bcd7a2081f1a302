"""How a model is asked changes nothing of what is found: batches, threads, failures, memory, Ctrl-C."""

import signal
import threading
import time

import numpy as np
import pytest

import geex
from geex import errors
from geex._query.limits import Limits
from geex._query.progress import clock, cost, duration
from geex._query.rate_limit import RateLimiter, Stopped
from tests.helpers import explained, raises

RNG = np.random.default_rng(3)
X = RNG.normal(size=(6, 5))
W = RNG.normal(size=(30, 3))
METHOD = geex.GEEX(0.5)
# half of all calls fail, and threads may give one job the failures of many
QUICK = {"attempts": 40, "backoff": 1e-4, "longest": 1e-3}


def model(z):
    return np.tanh((z.reshape(len(z), -1, 1) * W).sum(axis=1))


class Counted:
    """A model that counts its rows and fails as told: `fails(call, rows)` raises or gives an answer, or None."""

    def __init__(self, fails=lambda call, z: None):
        self.fails = fails
        self.calls = 0
        self.rows = 0
        self.lock = threading.Lock()

    def __call__(self, z):
        with self.lock:
            self.calls += 1
            call = self.calls
        answer = self.fails(call, z)
        if answer is None:
            answer = model(z)
            with self.lock:
                self.rows += len(z)
        return answer


def same(one, other):
    assert one.values.tobytes() == other.values.tobytes()
    assert one.stderr.tobytes() == other.stderr.tobytes()
    assert (one.output, one.gap, one.queries, one.noise) == (other.output, other.gap, other.queries, other.noise)


@pytest.fixture(scope="module")
def plain():
    return geex.explain(model, X, method=METHOD, queries=1500, progress=False)


@pytest.mark.parametrize("batch", [1, 7, 100, None])
@pytest.mark.parametrize("concurrency", [1, 2, 9])
def test_concurrency_changes_no_byte(plain, batch, concurrency):
    slow = Counted(lambda call, z: time.sleep(1e-4 * (call % 3)))
    limits = Limits(concurrency=concurrency)
    same(geex.explain(slow, X, method=METHOD, queries=1500, batch=batch, progress=False, limits=limits), plain)
    assert slow.rows == plain.queries == 1499


def test_no_more_calls_at_a_time_than_allowed():
    """Four are made at a time, since four meet; and never a fifth."""
    meeting, at_work, most = threading.Barrier(4), [], []

    def watching(call, z):
        at_work.append(1)
        most.append(len(at_work))
        if 3 <= call <= 6:  # the first two are for f(x) and f(x̊), each alone
            meeting.wait(60)
        time.sleep(0.002)
        at_work.pop()

    explained(Counted(watching), X, METHOD, 502, batch=10, limits=Limits(concurrency=4))
    assert max(most) == 4


def flaky(call, z):
    kind = call % 10
    if kind == 3:
        raise errors.TransientError("429", retry_after=0.001)
    if kind == 5:
        raise TimeoutError("too slow")
    if kind == 7:
        raise ConnectionResetError("gone")
    if kind == 8:
        return np.full((len(z), 3), np.nan)
    if kind == 9:
        return np.zeros((len(z), 2))
    return None


@pytest.mark.parametrize("concurrency", [1, 4])
def test_failures_of_a_moment_change_nothing(plain, concurrency):
    failing = Counted(flaky)
    limits = Limits(concurrency=concurrency, **QUICK)
    same(geex.explain(failing, X, method=METHOD, queries=1500, batch=50, progress=False, limits=limits), plain)
    assert failing.rows == plain.queries, "no row whose answer arrived is asked again"
    assert failing.calls > 1500 // 50 + 10


@pytest.mark.parametrize("concurrency", [1, 4])
def test_a_model_may_write_into_its_batch(plain, concurrency):
    """Models that scale their input in place are common, and rows are sent again after a failure."""
    failing = Counted(flaky)

    def writing(z):
        answer = failing(z.copy())
        z *= 0.5
        return answer

    def written(z):
        original = z.copy()
        z *= 0.5
        return failing(original)

    limits = Limits(concurrency=concurrency, **QUICK)
    for one in (writing, written):
        same(geex.explain(one, X, method=METHOD, queries=1500, batch=50, progress=False, limits=limits), plain)


@pytest.mark.parametrize("concurrency", [1, 3])
@pytest.mark.parametrize(
    "error", [errors.TransientError("HTTP 503"), TimeoutError("slow"), ValueError("400"), errors.ModelRaised("401")]
)
def test_what_does_not_end_is_an_error(error, concurrency):
    def fails(call, z):
        if call >= 4:
            raise error

    failing = Counted(fails)
    limits = Limits(concurrency=concurrency, attempts=3, backoff=1e-4)
    with raises(
        errors.ModelRaised,
        getattr(error, "code", "model-raised") if type(error) is errors.ModelRaised else "model-raised",
    ) as caught:
        explained(failing, X, METHOD, 502, batch=50, limits=limits)
    assert str(error) in str(caught.value)
    assert caught.value is error or caught.value.code == "model-raised"
    transient = isinstance(error, errors.TransientError | TimeoutError)
    assert ("(3 attempts were made)" in str(caught.value)) == transient
    assert failing.calls == 6 if transient and concurrency == 1 else failing.calls <= 3 + 3 * 7


def test_an_answer_that_stays_unusable_is_named_with_its_query():
    def fails(call, z):
        answer = model(z)
        answer[z[:, 0, 0] > X[0, 0] + 1, 1] = np.inf
        return answer

    with raises(errors.AnswerError, "answer-not-finite") as caught:
        explained(Counted(fails), X, METHOD, 502, batch=10, limits=Limits(attempts=3, backoff=1e-4, concurrency=2))
    assert caught.value.query.shape == X.shape


@pytest.mark.parametrize("concurrency", [1, 3])
def test_a_batch_that_memory_does_not_hold_is_halved(plain, concurrency):
    torch = pytest.importorskip("torch")
    sizes = []

    def tight(call, z):
        sizes.append(len(z))
        if len(z) > 60:
            raise [MemoryError(), torch.OutOfMemoryError("CUDA out of memory"), RuntimeError("can't allocate memory")][
                call % 3
            ]

    asked = Counted(tight)
    settings = {"batch": 512, "limits": Limits(concurrency)}
    same(geex.explain(asked, X, method=METHOD, queries=1500, progress=False, **settings), plain)
    assert asked.rows == plain.queries
    assert max(sizes) == 512
    assert sum(size > 60 for size in sizes) <= 4 * concurrency, "512, 256, 128 and 64 failed, once for every thread"


def test_one_row_that_memory_does_not_hold_is_an_error():
    def tight(z):
        raise MemoryError("no room")

    with pytest.raises(errors.ModelRaised, match="no room"):
        explained(tight, X, METHOD)


def test_rows_of_a_call_are_limited():
    seen = []

    def watching(z):
        seen.append(len(z))
        return model(z)

    explained(watching, X, METHOD, 502, limits=Limits(rows=16), batch=300)
    assert max(seen) == 16


@pytest.mark.parametrize("limits", [Limits(requests_per_second=10), Limits(rows_per_second=50)])
def test_the_pace_is_kept(limits, monkeypatch):
    """On a clock of our own: call i of 5 rows may start i/10 seconds after the first, and no earlier."""
    now = [100.0]
    monkeypatch.setattr("geex._query.rate_limit.time.monotonic", lambda: now[0])
    limiter = RateLimiter(limits)
    monkeypatch.setattr(limiter.stop, "wait", lambda seconds: now.__setitem__(0, now[0] + seconds))
    starts = []
    for _ in range(5):
        limiter.wait_for_turn(5)
        starts.append(now[0])
    np.testing.assert_allclose(np.diff(starts), 0.1)


def test_waits_double_up_to_the_longest_and_servers_are_obeyed(monkeypatch):
    waits = []
    limiter = RateLimiter(Limits(backoff=1.0, longest=5.0))
    monkeypatch.setattr(limiter.stop, "wait", lambda seconds: waits.append(seconds))
    for attempt in (1, 2, 3, 4, 9):
        limiter.back_off(attempt, None)
    for wait, most in zip(waits, (1, 2, 4, 5, 5), strict=True):
        assert most / 2 - 0.1 <= wait <= most
    waits.clear()
    limiter.back_off(1, 30.0)
    limiter.stop.wait = lambda seconds: waits.append(seconds) or True
    with pytest.raises(Stopped):
        limiter.wait_for_turn(1)
    assert 29 < waits[0] <= 33
    assert waits[1] > 29, "a server that wants its rest is left alone by all threads"


def test_a_hard_budget_counts_the_second_look():
    for queries in (6, 7, 8, 100, 101, 103):
        counted = Counted()
        explanation = geex.explain(counted, X, method=METHOD, queries=queries, progress=False)
        assert counted.rows == explanation.queries <= queries
        assert (explanation.noise == 0) if queries > 6 else (explanation.noise is None)


def test_a_model_that_answers_differently_is_told():
    rng = np.random.default_rng(0)

    def noisy(z):
        return model(z) + 0.1 * rng.normal(size=(len(z), 1))

    with pytest.warns(errors.UnsteadyModel, match="noise of about"):
        explanation = geex.explain(noisy, X, method=METHOD, queries=200, progress=False)
    assert 0 < explanation.noise < 1
    assert "differently each time" in repr(explanation)
    assert "The model answers x differently each time" in repr(explanation)


def test_a_network_in_training_mode_is_told():
    torch = pytest.importorskip("torch")
    with torch.random.fork_rng():
        torch.manual_seed(0)
        net = torch.nn.Sequential(
            torch.nn.Flatten(), torch.nn.Linear(30, 8), torch.nn.Dropout(0.5), torch.nn.Linear(8, 3)
        )
        with pytest.warns(errors.UnsteadyModel):
            geex.explain(net, torch.from_numpy(X).float(), method=METHOD, queries=200, progress=False)


@pytest.mark.parametrize("concurrency", [1, 4])
@pytest.mark.parametrize("where", ["model", "signal"])
def test_ctrl_c_explains_what_is_in(concurrency, where):
    """A real signal, or what a model makes of it in the caller's thread."""

    def interrupted(call, z):
        if call == 12:
            if where == "model" and concurrency == 1:
                raise KeyboardInterrupt
            signal.raise_signal(signal.SIGINT) if concurrency == 1 else signal.pthread_kill(
                threading.main_thread().ident, signal.SIGINT
            )
            time.sleep(0.05)

    asked = Counted(interrupted)
    with pytest.warns(errors.PartialRun, match="5,002"):
        part = explained(asked, X, METHOD, 5002, batch=50, limits=Limits(concurrency=concurrency, twice=False))
    assert part.partial
    assert "stopped before it was through" in repr(part)
    used = 2 + len(part.record.answers[0])
    assert 452 <= used < 1500
    same_prefix = explained(model, X, METHOD, used)
    assert part.values.tobytes() == same_prefix.values.tobytes()
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_ctrl_c_before_there_is_anything_is_ctrl_c():
    def interrupted(z):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        explained(interrupted, X, METHOD)


def test_ctrl_c_ends_a_batch_of_explicands_with_the_one_at_hand():
    def interrupted(call, z):
        if call == 30:
            raise KeyboardInterrupt

    xs = [X, X + 1, X + 2]
    with pytest.warns(errors.PartialRun):
        found = geex.explain_batch(Counted(interrupted), xs, method=METHOD, queries=1002, batch=50, progress=False)
    assert [explanation.partial for explanation in found] == [False, True]


def test_a_partial_run_keeps_the_baselines_that_it_reached():
    def interrupted(call, z):
        if call == 15:
            raise KeyboardInterrupt

    with pytest.warns(errors.PartialRun):
        part = explained(Counted(interrupted), X, METHOD, 1003, batch=50, baseline=[0.0, 1.0])
    assert part.settings.baselines == 2
    with pytest.warns(errors.PartialRun):
        part = explained(
            Counted(lambda call, z: interrupted(call + 7, z)), X, METHOD, 1003, batch=50, baseline=[0.0, 1.0]
        )
    assert part.settings.baselines == 1
    assert part.base_value == model(np.zeros((1, 6, 5)))[0, part.target]


@pytest.mark.parametrize(
    ("settings", "code"),
    [
        ({"concurrency": 0}, "concurrency-too-small"),
        ({"attempts": 1.5}, "attempts-not-whole"),
        ({"rows": 0}, "rows-too-small"),
        ({"requests_per_second": -1}, "requests-per-second-not-positive"),
        ({"twice": 1}, "twice-not-boolean"),
    ],
)
def test_limits_that_are_none(settings, code):
    with raises(errors.InputError, code):
        Limits(**settings)


@pytest.mark.parametrize(
    ("settings", "code"),
    [
        ({"limits": 3}, "limits-not-limits"),
        ({"run": "threads"}, "run-not-a-runner"),
        ({"run": geex.run.processes}, "run-not-a-runner"),
        ({"price": -1}, "price-negative"),
        ({"price": "much"}, "price-negative"),
    ],
)
def test_settings_of_the_engine_are_checked(settings, code):
    with raises(errors.InputError, code):
        explained(model, X, METHOD, **settings)


def test_a_model_brings_its_own_limits():
    seen = []

    def watching(z):
        seen.append(len(z))
        return model(z)

    watching.limits = Limits(rows=8)
    explained(watching, X, METHOD, 100, limits=None)
    assert max(seen) == 8


def test_what_is_to_come_is_said(caplog, tmp_path):
    assert cost(5000, 0, None) == "5,000 queries at the most."
    assert cost(5000, 1200, 0.002).endswith("of which 1,200 are in the journal: 3,800 at 0.002 each cost 7.60.")
    assert duration(0.5, 313, 8).endswith("313 of them, 8 at a time, take 20 seconds or more.")
    assert [clock(s) for s in (5, 600, 7200, 10**6)] == ["5 seconds", "10 minutes", "2 hours", "11.6 days"]
    with caplog.at_level("INFO", "geex"):
        explained(model, X, METHOD, 100, price=0.5, journal=tmp_path / "run.geex")
        explained(model, X, METHOD, 200, price=0.5, journal=tmp_path / "run.geex")
    said = [record.getMessage() for record in caplog.records]
    assert said[0].endswith("100 at 0.5 each cost 50.00.")
    assert said[1].startswith("The first call took")
    assert "98 are in the journal: 102 at 0.5 each cost 51.00." in said[2]


def test_a_slow_call_holds_up_nobody(plain):
    """The first call of the plan is answered when ten later ones have been, though only two are made at a time."""
    others = threading.Event()

    def slow(call, z):
        if call == 3:
            assert others.wait(20), "later calls waited for the slow one"
        if call == 13:
            others.set()

    asked = Counted(slow)
    same(geex.explain(asked, X, method=METHOD, queries=1500, batch=50, progress=False, limits=Limits(2)), plain)


def test_a_model_that_never_answered_is_spoken_of_while_it_is_asked_again():
    calls = []

    def down(z):
        calls.append(len(z))
        raise errors.TransientError("the service answered 500.")

    with (
        pytest.warns(errors.NoAnswerYet, match=r"after 3 attempts: the service answered 500\. geex makes up to 5"),
        raises(errors.ModelRaised, "model-raised") as caught,
    ):
        explained(down, X, METHOD, 502, limits=Limits(attempts=5, backoff=1e-4))
    assert caught.value.__cause__.code == "attempts-exhausted"
    assert len(calls) == 5
