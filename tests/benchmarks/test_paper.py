"""The paper's experiments, end to end on a tiny network and eight small images."""

import json
import warnings
from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("torch")
import torch
from benchmarks.paper.cases import Case, CaseSet, digest, predicted
from benchmarks.paper.contenders import contenders
from benchmarks.paper.measure import Piece, pieces
from benchmarks.paper.options import parsed
from benchmarks.paper.prefixes import Nested
from benchmarks.paper.report import report
from benchmarks.paper.results import Results, lines
from benchmarks.paper.run import Clock, run
from benchmarks.paper.settings import Setting

import geex
from tests.helpers import ONCE

SIZE = 8
SMALL = Setting(
    "inception",
    "a tiny network",
    sigma=0.5,
    baseline=geex.blur(3, 1.0),
    smooth=(3, 0.7),
    queries=60,
    step=8,
    ig_steps=5,
    sg_samples=4,
    superpixels=6,
    cells=3,
    images=8,
    curve=2,
    budgets=(20, 60, 100),
)


class Counted(torch.nn.Module):
    """A tiny network that counts the rows it is asked."""

    def __init__(self):
        super().__init__()
        self.layers = torch.nn.Sequential(
            torch.nn.Conv2d(3, 4, 3), torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.Linear(4 * (SIZE - 2) ** 2, 5)
        )
        self.asked = 0

    def forward(self, x):
        self.asked += len(x)
        return self.layers(x)


@pytest.fixture
def home():
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        network = Counted().eval().requires_grad_(False)
        images = torch.randn(8, 3, SIZE, SIZE)
    targets = predicted(network, images).tolist()
    shown = ["free", "free", "local", *["no"] * 5]
    cases = [
        Case(f"image {i}", i, image, target, SMALL.baseline, f"class {target}", shown=kind)
        for i, (image, target, kind) in enumerate(zip(images, targets, shown, strict=True))
    ]
    return CaseSet(SMALL, network, digest(network), cases, threads=1)


@pytest.mark.slow
def test_the_whole_path(home, tmp_path):
    results = Results(tmp_path)
    assert run([home], results, Clock()) == 0
    files = report([home], results, tmp_path, "the command", quick=False)
    assert {file.name for file in files} >= {
        "table.md",
        "table.json",
        "explanations.png",
        "local-inception.png",
        "queries.png",
    }
    assert all(file.stat().st_size > 0 for file in files)
    (table,) = json.loads((tmp_path / "table.json").read_text())["tables"]
    assert len(table["methods"]) == 10
    assert all(method["images"] == 8 for method in table["methods"].values())
    assert table["methods"]["geex"]["baseline"]["paper"] == 0.7952
    assert table["methods"]["sg-input"]["gaussian"]["paper"] is None
    assert len(table["paired"]) == 12
    text = (tmp_path / "table.md").read_text()
    for word in ("0.7952", "SmoothGrad(samples=4", "the command", "GEEX, σ 0.25 − IG", "Paper: IG > GEEX"):
        assert word in text


def test_a_second_run_asks_nothing(home, tmp_path):
    run([home], Results(tmp_path), Clock())
    before = home.network.asked
    assert run([home], Results(tmp_path), Clock()) == 0
    assert home.network.asked == before


def test_a_torn_line_costs_one_piece(home, tmp_path):
    home = replace(home, methods=("ig", "random"))
    run([home], Results(tmp_path), Clock())
    file = tmp_path / "results.jsonl"
    whole = file.read_bytes()
    assert len(list(lines(file))) == 16
    file.write_bytes(whole[:-20])
    results = Results(tmp_path)
    todo = [piece for piece in pieces(home) if not piece.done(results)]
    assert [(piece.case.name, piece.contender.key) for piece in todo] == [("image 7", "random")]
    run([home], results, Clock())
    assert len(list(lines(file))) == 16
    assert Results(tmp_path).known == results.known


def test_other_settings_are_other_results(home, tmp_path):
    home = replace(home, methods=("random",))
    run([home], Results(tmp_path), Clock())
    for other in (
        replace(home, setting=replace(home.setting, step=4)),
        replace(home, digest="another network"),
    ):
        assert not any(piece.done(Results(tmp_path)) for piece in pieces(other))


def test_work_is_case_after_case_and_shared_out(home, tmp_path):
    results = Results(tmp_path)
    home = replace(home, methods=("ig", "random"))
    run([home], results, Clock(), share=(2, 4))
    assert [(r["image"], r["method"]) for r in lines(results.file)] == [
        ("image 1", "ig"),
        ("image 1", "random"),
        ("image 5", "ig"),
        ("image 5", "random"),
    ]


def test_time_runs_out_between_pieces(home, tmp_path):
    results = Results(tmp_path)
    assert run([home], results, Clock(minutes=0.0)) == len(pieces(home))
    assert not results.known
    clock = Clock(minutes=1.0)
    clock.learn(pieces(home)[0], 1000.0)
    assert not clock.fits(pieces(home)[0])


@pytest.mark.slow
def test_ctrl_c_keeps_what_is_in(home, tmp_path):
    def interrupted(queries):
        if home.network.asked > 2000:
            raise KeyboardInterrupt
        return home.network(queries)

    results = Results(tmp_path)
    warnings.simplefilter("ignore", geex.errors.PartialRun)
    with pytest.raises(KeyboardInterrupt):
        run([replace(home, network=interrupted)], results, Clock())
    assert 0 < len(results.known) < len(pieces(home))
    files = report([home], Results(tmp_path), tmp_path, "the command", quick=True)
    assert "Quick form" in files[0].read_text()


def test_prefixes_are_runs_with_smaller_budgets(home):
    case = home.cases[0]
    method = geex.GEEX(0.5)
    settings = {
        "limits": ONCE,
        "baseline": 0.0,
        "features": geex.Pixels(0),
        "seed": 3,
        "progress": False,
        "target": case.target,
    }
    nested = Nested(method, (20, 57, 100))
    whole = geex.explain(home.network, case.x, method=nested, queries=100, **settings)
    for budget in nested.budgets:
        alone = geex.explain(home.network, case.x, method=method, queries=budget, **settings)
        np.testing.assert_allclose(nested.found[budget][0].reshape(SIZE, SIZE), alone.values, rtol=1e-6, atol=1e-9)
    np.testing.assert_array_equal(whole.values, nested.found[100][0].reshape(SIZE, SIZE))


def test_a_curve_brings_the_table_its_numbers(home, tmp_path):
    results = Results(tmp_path)
    row = next(row for row in contenders(SMALL) if row.key == "geex")
    Piece(home, home.cases[0], row, SMALL.budgets).measure(results)
    assert len(results.known) == 3
    assert not Piece(home, home.cases[3], row).done(results)
    assert Piece(home, replace(home.cases[0], shown="no"), row).done(results)


def test_options():
    options = parsed(["--quick", "--methods", "ig,geex", "--share", "2/4", "--minutes", "9.5"])
    assert options.methods == ("ig", "geex")
    assert options.share == (2, 4)
    assert options.out.name == "paper-quick"
    with pytest.raises(SystemExit):
        parsed(["--share", "5/4"])
