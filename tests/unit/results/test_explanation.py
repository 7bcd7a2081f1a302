"""An explanation is a record: it can be read, saved and loaded, and it does not change."""

import dataclasses
import re
from dataclasses import replace

import numpy as np
import pytest

import geex
from geex.errors import FileError, InputError
from geex.methods import GE, RISE, Random
from tests.helpers import explained, raises

X = np.linspace(-1, 2, 6).reshape(2, 3)


def model(z):
    return np.stack([z.sum((1, 2)) + 1, z[:, 0, 0]], axis=1)


@pytest.mark.parametrize("target", [None, 1, "all", [1, 0]])
def test_save_and_load(tmp_path, target):
    saved = explained(model, X, geex.GEEX(0.5), target=target, features=geex.Pixels(channels=0))
    path = saved.save(tmp_path / "one.geex")
    loaded = geex.Explanation.load(path)
    for field in dataclasses.fields(saved):
        if field.name != "record":
            np.testing.assert_array_equal(getattr(loaded, field.name), getattr(saved, field.name))
    assert repr(loaded) == repr(saved)
    assert list(tmp_path.iterdir()) == [path]


def test_saving_a_torch_explanation(tmp_path):
    torch = pytest.importorskip("torch")
    saved = explained(lambda z: z.sum((1, 2)), torch.from_numpy(X) + 2, geex.GEEX(0.5))
    loaded = geex.Explanation.load(saved.save(tmp_path / "one.npz"))
    assert isinstance(loaded.values, np.ndarray)
    np.testing.assert_array_equal(loaded.values, saved.values.numpy())
    assert isinstance(saved.numpy().values, np.ndarray)


def test_models_name_their_outputs_and_features():
    class Named:
        labels = ("sum", 7)
        names = ("a", "b", "c")

        def __call__(self, z):
            return np.stack([z.sum(1), z[:, 0]], axis=1)

    explanation = explained(Named(), np.array([1.0, 2.0, 3.0]), geex.GEEX(0.5))
    assert explanation.labels == ["sum", "7"]
    assert explanation.names == ["a", "b", "c"]
    assert geex.estimate(explanation, target=1).labels == ["sum", "7"]
    one = explained(Named(), np.array([1.0, 2.0, 3.0]), geex.GEEX(0.5), score=lambda z: z[:, 0])
    assert one.labels is None
    grouped = explained(Named(), np.array([1.0, 2.0, 3.0]), geex.GEEX(0.5), features=geex.Groups([0, 0, 1]))
    assert grouped.names == ["group 0", "group 1"]


def test_files_that_are_no_explanation(tmp_path):
    (tmp_path / "text").write_text("hello")
    with raises(FileError, "file-no-explanation"):
        geex.Explanation.load(tmp_path / "text")
    np.savez(tmp_path / "other.npz", values=X)
    with raises(FileError, "file-damaged"):
        geex.Explanation.load(tmp_path / "other.npz")
    np.savez(tmp_path / "future.npz", format=np.array("geex explanation 99"))
    with raises(FileError, "file-format"):
        geex.Explanation.load(tmp_path / "future.npz")
    with pytest.raises(FileNotFoundError):
        geex.Explanation.load(tmp_path / "none")
    whole = explained(model, X, geex.GEEX(0.5)).save(tmp_path / "whole.npz").read_bytes()
    (tmp_path / "half.npz").write_bytes(whole[: len(whole) // 2])
    with raises(FileError, "file-damaged"):
        geex.Explanation.load(tmp_path / "half.npz")


def test_it_is_frozen():
    explanation = explained(model, X, geex.GEEX(0.5))
    with pytest.raises(dataclasses.FrozenInstanceError):
        explanation.values = 0


def rows_of(explanation):
    """The lines of the printed explanation as {first cell: other cells}."""
    cells = [re.split(r"\s{2,}", line.strip()) for line in repr(explanation).splitlines()]
    return {first: rest for first, *rest in cells}


def test_the_repr_tells_the_account():
    explanation = explained(model, X, geex.GEEX(0.5), target="all")
    rows = rows_of(explanation)
    assert "Explanation of outputs [0, 1]" in rows
    assert rows["Output"] == ["f(x)", "f(x̊)", "sum", "left", "largest feature"]
    assert [float(cell.replace("−", "-")) for cell in rows["output 0"][:4]] == pytest.approx(
        [explanation.output[0], explanation.base_value[0], explanation.values[0].sum(), explanation.gap[0]], abs=0.05
    )
    assert "queries" in repr(explanation)


def test_the_repr_has_the_names_that_were_given():
    model = lambda z: np.stack([z @ [1.0, -5.0], z.sum(1)], axis=1)  # noqa: E731
    explanation = geex.explain(model, np.ones(2), target=0).named(["risk", "size"], ["pay", "age"])
    assert "output 0 (risk)" in repr(explanation)
    assert rows_of(explanation)["age"][0] == "−5.000"
    both = geex.explain(model, np.ones(2), target="all").named(["risk", "size"])
    assert rows_of(both)["output 1 (size)"][0] == "2.000"


@pytest.mark.parametrize(
    ("score", "told"),
    [
        (None, "output 0: score 0.881"),
        ("answer", "output 0: score 0.881"),
        ("log_odds", "output 0: probability 0.881 (log-odds 2)"),
        ("softmax", "output 0: probability 0.682"),
        ("margin", "output 0: lead over the next output 0.762"),
    ],
)
def test_the_repr_says_what_is_explained(score, told):
    chances = lambda z: np.stack([0.5 + 0.127 * z.sum(1), 0.5 - 0.127 * z.sum(1)], axis=1)  # noqa: E731
    assert repr(explained(chances, np.ones(3), geex.Shapley(), 20, score=score)).splitlines()[0].endswith(told)


def test_a_gap_that_is_rounding_is_none():
    rounded = explained(lambda z: z @ [0.1, 0.7, 0.3], np.array([0.1, 0.3, 0.7]), geex.Shapley(), 100)
    assert rows_of(replace(rounded, gap=1e-15, gap_stderr=6.8e-17))["left over"] == ["0"]
    assert rows_of(replace(rounded, gap=-1e-15, gap_stderr=np.nan))["left over"] == ["0"]
    assert rows_of(replace(rounded, gap=1e-15, gap_stderr=0.01))["left over"] == ["0.000", "[−0.020, +0.020]"]
    assert rows_of(replace(rounded, gap=1e-3, gap_stderr=6.8e-17))["left over"][0] == "+0.0010"


def test_what_does_not_add_up_has_no_account():
    for method in (RISE(cells=2), Random(), GE(0.5)):
        rows = rows_of(explained(model, X, method, 100))
        assert {"f(x)", "f(x̊), at the baseline"} <= set(rows)
        assert not {"sum of the values", "left over", "joint effect of several features"} & set(rows)
    assert not explained(model, X, GE(0.5), 100).adds_up
    assert explained(model, X, geex.GEEX(0.5), 100).adds_up


def test_a_loaded_explanation_has_no_answers_left(tmp_path):
    loaded = geex.Explanation.load(explained(model, X, geex.GEEX(0.5)).save(tmp_path / "one"))
    with pytest.raises(InputError) as refused:
        geex.estimate(loaded, target=1)
    assert refused.value.code == "answers-missing"


def test_the_settings_hold_what_made_it():
    settings = explained(model, X, geex.GEEX(), seed=4).settings
    assert settings.seed == 4
    assert settings.sigma == pytest.approx([X.std() / 2])
    assert settings.method.name == "GEEX"
    assert settings.version == geex.__version__


def test_where_all_elements_are_alike_sigma_is_half_the_distance():
    assert explained(lambda z: z[:, 0], np.array([3.0]), geex.GEEX()).settings.sigma == (1.5,)
