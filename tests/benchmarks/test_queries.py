"""The benchmark of quality against queries, on a tiny network and small images."""

from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("torch")
import torch
from benchmarks.paper.cases import Case, CaseSet, digest
from benchmarks.paper.results import Results
from benchmarks.paper.run import Clock, work_through
from benchmarks.paper.settings import MNIST
from benchmarks.queries.__main__ import merge
from benchmarks.queries.entrants import WHITE, entrants, missing
from benchmarks.queries.page import markdown
from benchmarks.queries.peers import Default
from benchmarks.queries.table import Table
from benchmarks.queries.trial import Trial
from benchmarks.queries.unseen import Unseen

from geex._arrays.arrays import host

SIDE = 14
SETTING = replace(MNIST, step=20, ig_steps=3, sg_samples=2)
BUDGETS = (100, 200)


@pytest.fixture
def home():
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        network = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(SIDE**2, 3)).eval().requires_grad_(False)
        images = torch.rand(2, 1, SIDE, SIDE)
    targets = network(images).argmax(1).tolist()
    cases = [Case(f"{i}", i, x, target, 0.0) for i, (x, target) in enumerate(zip(images, targets, strict=True))]
    return CaseSet(SETTING, network, digest(network), cases, threads=1)


def trials(home, keys, budgets=BUDGETS):
    unseen = Unseen(home, 7)
    rows = {key: row for key, row in entrants(home.setting).items() if key in keys}
    return [
        Trial(home, case, row, () if key in WHITE else budgets, unseen)
        for case in home.cases
        for key, row in rows.items()
    ]


@pytest.mark.slow
def test_nobody_asks_more_than_the_budget_and_the_page_tells_of_all(home, tmp_path):
    keys = [key for key in entrants(home.setting) if key != "partition"]  # shap compiles for a quarter of a minute
    assert not any(map(missing, keys))
    results = Results(tmp_path)
    assert work_through(trials(home, keys), results, Clock()) == 0
    for result in results.known.values():
        if result["method"] not in WHITE:
            assert 0.4 * result["settings"]["queries"] < result["queries"] <= result["settings"]["queries"]
    table = Table.of(home.setting, results)
    told = table.numbers()
    assert set(told["means"]) == {entrants(home.setting)[key].title for key in keys}
    assert set(told["ours minus reference"]) >= {"IG"}
    page = markdown({"mnist": told})
    assert all(title in page for title in told["means"])


class RowByRow(torch.nn.Module):
    """A network whose answer to a row does not depend on the batch, not even in its last bit."""

    def __init__(self, network):
        super().__init__()
        self.network = network

    def forward(self, rows):
        return torch.cat([self.network(row[None]) for row in rows])


def test_budgets_that_share_a_journal_are_those_of_separate_runs(home):
    home = replace(home, network=RowByRow(home.network))
    together, alone = trials(home, ["ours"])[0], trials(home, ["ours"], BUDGETS[1:])[0]
    *_, (_, values, rows) = together._explained(list(together.explainers.values()))
    ((_, expected, count),) = alone._explained(list(alone.explainers.values()))
    np.testing.assert_array_equal(values, expected)
    assert rows == count


def test_what_is_there_or_was_merged_is_not_measured_again(home, tmp_path):
    first, second = Results(tmp_path / "first"), Results(tmp_path / "second")
    work_through(trials(home, ["rise"]), first, Clock())
    merge(first.file, second)
    assert second.known == first.known
    assert all(trial.done(second) for trial in trials(home, ["rise"]))
    assert not any(trial.done(second) for trial in trials(home, ["lime"]))


def test_other_settings_are_not_reported(home, tmp_path):
    results = Results(tmp_path)
    work_through(trials(home, ["rise"]), results, Clock())
    assert Table.of(home.setting, results).results
    assert not Table.of(replace(home.setting, step=21), results).results


def test_ours_of_earlier_settings_stays_until_it_is_measured_again_and_is_marked(home, tmp_path):
    results = Results(tmp_path)
    work_through(trials(home, ["ours", "rise"]), results, Clock())
    assert Table.of(home.setting, results).earlier is None
    for name in ("ours", "rise"):
        for result in results.known.values():
            if result["method"] == name:
                result["settings"]["method"] = "as it was"
    table = Table.of(home.setting, results)
    assert {key for key, _ in table.results} == {"ours"}
    assert "with earlier settings: `as it was`" in markdown({"mnist": table.numbers()})
    for result in list(results.known.values()):
        if result["method"] == "ours" and result["settings"]["queries"] == BUDGETS[0]:
            results.add(result | {"settings": result["settings"] | {"method": Default().facts()["method"]}})
    mixed = Table.of(home.setting, results)
    assert mixed.earlier == ("as it was", BUDGETS[1:])
    assert {budget for _, budget in mixed.results} == set(BUDGETS)


def test_values_of_a_linear_score_predict_all_of_it_and_others_less(home):
    unseen, case = Unseen(home, 7), home.cases[0]
    weight = home.network[1].weight[case.target] * case.x.ravel()
    exact = host(weight).reshape(SIDE, SIDE)
    masks, answers = unseen._answered(case)
    assert masks.shape == (240, SIDE, SIDE)
    linear = masks.flatten(1).double() @ weight.double()
    unseen.answered[case.name] = masks, (linear - linear.min()) / (linear.max() - linear.min())
    assert unseen.predicted(case, exact)["probability"] == pytest.approx(1, abs=1e-9)
    assert unseen.predicted(case, -exact)["probability"] == 0
    assert unseen.predicted(case, np.zeros((SIDE, SIDE)))["probability"] == 0
    assert unseen.predicted(case, np.ones((SIDE, SIDE)))["probability"] < 0.9
    assert len(answers) == 240
