"""Where the model is called changes nothing: threads, processes and a real cluster, and what befalls them."""

import os
import signal
import subprocess
import sys
import threading
import time
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import geex
from geex import errors
from geex._plan.plan import Ends
from geex._query.runners import worker
from geex._query.runners.threads import threads
from geex.methods import RISE
from tests.helpers import explained, raises
from tests.system.test_journal import committed, start
from tests.unit.query.test_session import METHOD, Counted, X, model, same

QUERIES = 3000


class Held:
    """A model that leaves a line in a file for every call. From call number `after` on it answers only when there is a
    file `go`: what has to happen in the middle of a run does, however slow the machine is."""

    def __init__(self, folder, after):
        self.log, self.go, self.after = folder / "log", folder / "go", after

    def __call__(self, z):
        with open(self.log, "a") as file:
            file.write(f"{os.getpid()}\n")
        if len(lines(self.log)) >= self.after:
            wait_for(self.go.exists)
        time.sleep(0.01)
        return model(z)


class Shut:
    """A model that cannot be opened elsewhere."""

    def __reduce__(self):
        return _refuse, ()

    def __call__(self, z):
        return model(z)


def _refuse():
    raise OSError("weights.bin is not here")


class Fatal:
    """A model that takes its process down with it."""

    def __call__(self, z):
        os.kill(os.getpid(), signal.SIGKILL)


def broken(z):
    if len(z) > 10:
        raise ValueError("bad shape")
    return model(z)


@pytest.fixture(scope="module")
def cluster():
    """A real cluster of two processes."""
    distributed = pytest.importorskip("distributed")
    settings = {"n_workers": 2, "threads_per_worker": 1, "processes": True, "host": "127.0.0.1"}
    # a free port: without one it takes 8787, and fails where that is taken
    with distributed.LocalCluster(**settings, dashboard_address="127.0.0.1:0") as cluster:
        yield cluster


@pytest.fixture(scope="module")
def ray_address():
    """A Ray of two processes that listens on loopback only. Ray itself would take the machine's own address."""
    pytest.importorskip("ray")
    settings = {"num_cpus": 2, "include_dashboard": False, "object_store_memory": 100 * 2**20}
    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Ray's own
        patch.setenv("RAY_USAGE_STATS_ENABLED", "0")
        patch.setenv("RAY_AUTH_MODE", "disabled")
        from ray._private import services
        from ray.cluster_utils import Cluster

        patch.setattr(services, "resolve_ip_for_localhost", lambda host: host, raising=False)
        cluster = Cluster(initialize_head=True, head_node_args={**settings, "node_ip_address": "127.0.0.1"})
        yield cluster.address
        cluster.shutdown()


@pytest.fixture(params=["threads", "processes", "dask", "ray"])
def run(request):
    if request.param == "dask":
        return geex.run.dask(request.getfixturevalue("cluster").scheduler_address)
    if request.param == "ray":
        return geex.run.ray(request.getfixturevalue("ray_address"))
    return {"threads": threads, "processes": geex.run.processes}[request.param](2)


@pytest.fixture(scope="module")
def plain():
    return explained(model, X, METHOD, QUERIES)


def lines(path):
    return path.read_text().split() if path.exists() else []


def wait_for(condition, seconds=120):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.01)


@pytest.mark.parametrize("method", [METHOD, RISE(cells=3), geex.Shapley()], ids=str)
@pytest.mark.slow
def test_the_same_bytes(run, method):
    for x in (X, X[0]) if method is METHOD else (X,):
        weighed = model if x is X else first_row
        same(explained(weighed, x, method, 1500, run=run), explained(weighed, x, method, 1500))


def test_it_passes_the_checks_of_any_runner(run):
    geex.testing.check_runner(run)


def first_row(z):
    return np.tanh(z.sum(axis=1))


def test_journal_and_budget_work_as_on_one_machine(run, plain, tmp_path):
    path = tmp_path / "run.geex"
    explained(model, X, METHOD, 1000, run=run, journal=path)
    counted = Counted()
    same(explained(counted, X, METHOD, QUERIES, journal=path), plain)
    assert counted.rows == QUERIES - 1000
    same(explained(model, X, METHOD, QUERIES, journal=path, run=run), plain)


def test_ctrl_c_explains_what_is_in(run, tmp_path):
    path, held = tmp_path / "run.geex", Held(tmp_path, 24)

    def interrupt():
        wait_for(lambda: len(lines(held.log)) >= 24)  # begun: the first ones are in by then, whoever was slow to start
        signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)
        held.go.touch()

    threading.Thread(target=interrupt).start()
    with pytest.warns(errors.PartialRun):
        part = explained(held, X, METHOD, 50000, run=run, journal=path)
    assert part.partial
    assert part.queries < 40000
    again = geex.estimate(path)
    same(again, part)


def test_every_batch_is_stored_as_it_comes(run, tmp_path):
    """While later calls are held, the batches of ten rows that are answered are in the journal."""
    path, held, seen = tmp_path / "run.geex", Held(tmp_path, 8), []

    def look():
        try:
            wait_for(lambda: len(lines(held.log)) >= 8 and committed(path) >= 30, 60)
            seen.append(committed(path))
        finally:
            held.go.touch()

    watching = threading.Thread(target=look)
    watching.start()
    explained(held, X, METHOD, 400, batch=10, run=run, journal=path)
    watching.join()
    assert 30 <= seen[0] < 100


def test_a_worker_whose_parent_has_died_already_ends():
    """The parent may die before its worker has looked up who it is."""
    code = "import time; from geex._query.runners import processes as p; p._begin(None, 2**22 + 1); time.sleep(60)"
    assert subprocess.run([sys.executable, "-c", code], timeout=50).returncode == 1


@pytest.mark.parametrize("run", ["processes", "dask", "ray"], indirect=True)
@pytest.mark.slow
def test_a_worker_that_is_killed_changes_nothing(run, plain, tmp_path):
    held = Held(tmp_path, 4)
    killed = []

    def kill():
        wait_for(lambda: len(lines(held.log)) >= 4)
        killed.append(int(lines(held.log)[-1]))
        os.kill(killed[0], signal.SIGKILL)
        held.go.touch()

    threading.Thread(target=kill).start()
    same(explained(held, X, METHOD, QUERIES, run=run), plain)
    assert killed
    assert len({*lines(held.log)}) >= 2
    assert killed[0] != os.getpid()


@pytest.mark.parametrize("run", ["processes", "dask", "ray"], indirect=True)
def test_a_model_that_cannot_be_opened_gives_its_error(run):
    with raises(errors.ModelRaised, "model-not-opened") as caught:
        explained(Shut(), X, METHOD, run=run)
    assert "weights.bin is not here" in str(caught.value)


def test_an_error_of_the_model_comes_back(run):
    with raises(errors.ModelRaised, "model-raised") as caught:
        explained(broken, X, METHOD, run=run)
    assert "bad shape" in str(caught.value)


@pytest.mark.slow
def test_a_model_that_kills_its_workers_is_an_error():
    with raises(errors.RunError, "workers-died"):
        explained(Fatal(), X, METHOD, run=geex.run.processes(1))


def test_a_model_that_cannot_be_sent():
    with raises(errors.InputError, "model-not-picklable"):
        explained(Counted(), X, METHOD, run=geex.run.processes(1))


CLUSTER = """
import distributed, sys, time

if __name__ == "__main__":
    cluster = distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, processes=False, dashboard_address="127.0.0.1:0", host="127.0.0.1",
        protocol="tcp"
    )
    print(cluster.scheduler_address, flush=True)
    sys.stdin.read() if sys.stdin else time.sleep(600)
    time.sleep(600)
"""


@pytest.mark.slow
def test_a_scheduler_that_goes_away_leaves_the_journal_good(plain, tmp_path):
    pytest.importorskip("distributed")
    path, held = tmp_path / "run.geex", Held(tmp_path, 4)
    process = start(code=CLUSTER)
    address = process.stdout.readline().strip()

    def kill():
        wait_for(lambda: len(lines(held.log)) >= 4 and committed(path) > 100)
        process.kill()

    threading.Thread(target=kill).start()
    with raises(errors.RunError, "dask-lost") as caught:
        explained(held, X, METHOD, QUERIES, run=geex.run.dask(address), journal=path, batch=128)
    process.communicate()
    assert any(str(path) in note for note in caught.value.__notes__)
    counted = Counted()
    same(explained(counted, X, METHOD, QUERIES, journal=path), plain)
    assert counted.rows < QUERIES - 100


def test_no_scheduler_no_worker(monkeypatch):
    pytest.importorskip("distributed")
    monkeypatch.setattr("geex._query.runners.dask.DASK_WAIT", 0.5)
    with raises(errors.RunError, "dask-unreachable"):
        explained(model, X, METHOD, run=geex.run.dask("127.0.0.1:1"))
    with raises(errors.InputError, "cluster-missing"):
        geex.run.dask(None)


def test_a_connection_of_the_users_is_used_and_left_open(ray_address, plain):
    import ray

    ray.init(ray_address, log_to_driver=False, logging_level="WARNING")
    try:
        same(explained(model, X, METHOD, QUERIES, run=geex.run.ray()), plain)
        assert ray.is_initialized()
        with raises(errors.RunError, "workers-died"):
            explained(Fatal(), X, METHOD, run=geex.run.ray())
    finally:
        ray.shutdown()


def test_what_a_script_defines_reaches_the_workers(ray_address, tmp_path):
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    done = subprocess.run([sys.executable, script, ray_address], capture_output=True, text=True)
    assert done.stdout.split() == ["True"], done.stderr


SCRIPT = """
import sys
import numpy as np
from ray._private import services
import geex

services.resolve_ip_for_localhost = lambda host: host

def model(z):
    return np.tanh(z).sum(axis=1)

found = [
    geex.explain(model, np.ones(5), method=geex.GEEX(0.5), queries=100, progress=False, run=run)
    for run in (None, geex.run.ray(sys.argv[1]))
]
print(found[0].values.tobytes() == found[1].values.tobytes())
"""


def test_no_ray_there():
    pytest.importorskip("ray")
    with pytest.raises(errors.RunError, match=r"No Ray cluster .* at .nowhere."):
        explained(model, X, METHOD, run=geex.run.ray("nowhere"))
    with raises(errors.InputError, "ray-address"):
        geex.run.ray("")


class Opened:
    """A model that takes its time to open, and counts how often it was."""

    count = 0

    def __reduce__(self):
        return _open, ()

    def __call__(self, z):
        return model(z)


def _open():
    time.sleep(0.05)
    Opened.count += 1
    return Opened()


def test_threads_of_one_worker_open_a_model_once():
    pickled = worker.pickled_model(Opened(), geex.Limits(), 10, 4)
    plans = [worker.pickled(Ends(np.full((1, 6, 5), float(i))), "the plan") for i in range(worker.PLANS + 4)]
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda plan: worker.answer(pickled, plan, 0, 1), plans * 20))
    assert Opened.count == 1
    for i, outcome in enumerate(found):
        np.testing.assert_array_equal(outcome.parts[0][2], model(np.full((1, 6, 5), float(i % len(plans)))))


def test_workers_share_the_rate_limits():
    pickled = worker.pickled_model(model, geex.Limits(requests_per_second=8, rows_per_second=100), 10, 4)
    assert (pickled.limits.requests_per_second, pickled.limits.rows_per_second) == (2, 25)
