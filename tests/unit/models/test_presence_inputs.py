"""Texts and mixed rows, explained by what is there and what is not."""

import json
import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import geex
from geex.errors import InputError
from geex.methods import GE
from geex.models import http, row, text
from tests.games import shapley
from tests.helpers import raises
from tests.servers import Loopback, Reply

GOOD = ["a lovely film", "great acting and a great plot", "lovely plot", "a great and moving film", "I loved it"]
BAD = ["a dull film", "poor acting and a dull plot", "dull and boring", "boring film, poor plot", "I hated it"]
REVIEW = "A dull plot, but lovely acting -- I LOVED it!"


@pytest.fixture(scope="module")
def pipeline():
    labels = ["good"] * len(GOOD) + ["bad"] * len(BAD)
    return make_pipeline(TfidfVectorizer(), LogisticRegression()).fit(GOOD + BAD, labels)


@pytest.mark.slow
def test_words_have_their_exact_shapley_values(pipeline):
    shown = text(pipeline, REVIEW)
    assert shown.names == ("A", "dull", "plot", "but", "lovely", "acting", "I", "LOVED", "it")
    assert shown.labels == ("bad", "good")
    found = geex.explain(shown, shown.x, method=geex.Shapley(), queries=2000, target=1, progress=False)

    def worth(present):
        words = [word if place in present else "" for place, word in enumerate(shown.names)]
        return pipeline.predict_proba([" ".join(words)])[0, 1]

    exact = shapley(worth, len(shown.names))
    assert np.abs(found.values - exact).max() < 4 * found.stderr.max() + 1e-3
    assert found.values.sum() == pytest.approx(worth(set(range(9))) - worth(set()), abs=1e-9)
    assert shown.names[int(np.argmin(found.values))] == "dull"
    assert shown.names[int(np.argmax(found.values))] in ("lovely", "LOVED")


def test_what_the_model_reads():
    heard = []
    shown = text(lambda texts: heard.extend(texts) or np.zeros(len(texts)), REVIEW)
    shown(np.stack([shown.x, 0 * shown.x]))
    shown(np.array([[1, 0, 1, 1, 0, 1, 1, 1, 1.0]]))
    assert heard == [REVIEW, "  ,    --   !", "A  plot, but  acting -- I LOVED it!"]
    masked = text(lambda texts: heard.extend(texts) or np.zeros(len(texts)), "two words", absent="[MASK]")
    masked(np.array([[0.0, 1.0]]))
    assert heard[-1] == "[MASK] words"


def test_sentences():
    shown = text(len, "One. Two words! Three?", pattern=r"[^.!?]+[.!?]")
    assert shown.names == ("One.", " Two words!", " Three?")
    assert shown.shape == (3,)


def test_what_is_compared_with_is_told(pipeline, tmp_path):
    review = text(pipeline, "a lovely film")
    found = geex.explain(review, review.x, queries=20, journal=tmp_path / "run.geex", progress=False)
    for one in (found, geex.estimate(tmp_path / "run.geex")):
        assert "compared with the text without its words" in repr(one)
    masked = text(pipeline, "a lovely film", absent="[MASK]")
    assert "compared with '[MASK]' for every word" in repr(geex.explain(masked, masked.x, queries=20, progress=False))
    half = geex.explain(masked, masked.x, baseline=np.array([0.0, 1.0, 0.0]), queries=20, progress=False)
    assert "every word" not in repr(half)


@pytest.mark.parametrize("method", [geex.GEEX(sigma=0.5), GE(sigma=0.5)])
def test_half_a_word_cannot_be_asked_for(method, pipeline):
    shown = text(pipeline, REVIEW)
    with pytest.raises(geex.errors.GeexError) as caught:
        geex.explain(shown, shown.x, method=method, queries=100, progress=False)
    errors = [caught.value, caught.value.__cause__]
    assert "presence-not-binary" in [getattr(error, "code", "") for error in errors]


@pytest.mark.parametrize("wrong", ["", "...", 3, None, ["a", "b"]])
def test_texts_without_words(wrong):
    with raises(InputError, "text-without-parts" if isinstance(wrong, str) else "text-not-text"):
        text(len, wrong)


def test_a_text_behind_a_service_gives_the_same(pipeline):
    pytest.importorskip("httpx")

    def respond(request):
        return Reply(json.dumps(pipeline.predict_proba(json.loads(request.body)["texts"]).tolist()).encode())

    settings = {"method": geex.Shapley(), "queries": 300, "progress": False}
    with Loopback(respond) as server:
        far = text(http(server.url, request={"texts": "{rows}"}), REVIEW)
        there = geex.explain(far, far.x, **settings)
    near = text(pipeline, REVIEW)
    here = geex.explain(near, near.x, **settings)
    assert np.allclose(there.values, here.values, atol=1e-12)


def people(count=200):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "age": rng.integers(18, 80, count),
            "job": rng.choice(["clerk", "miner", "nurse"], count),
            "noise": rng.normal(size=count),
            "smoker": rng.choice([True, False], count),
        }
    )
    risk = 0.05 * (frame.age - 50) + 2 * (frame.job == "miner") + 1.5 * frame.smoker
    return frame, risk + rng.logistic(size=count) > 1.5


@pytest.fixture(scope="module")
def table():
    frame, sick = people()
    columns = ColumnTransformer([("job", OneHotEncoder(), ["job"])], remainder=StandardScaler())
    return frame, make_pipeline(columns, LogisticRegression()).fit(frame, sick)


def test_a_row_of_mixed_types_has_exact_shapley_values(table):
    frame, pipeline = table
    one = {"age": 70, "job": "miner", "noise": 0.1, "smoker": True}
    typical = frame.mode().iloc[0].to_dict() | {"age": 45, "smoker": False, "job": "clerk", "noise": 0.0}
    shown = row(pipeline, one, typical)
    assert shown.names == ("age", "job", "noise", "smoker")
    found = geex.explain(shown, shown.x, method=geex.Shapley(), queries=1000, target=1, progress=False)

    def worth(present):
        cells = {name: [(one if place in present else typical)[name]] for place, name in enumerate(one)}
        return pipeline.predict_proba(pd.DataFrame(cells))[0, 1]

    assert np.abs(found.values - shapley(worth, 4)).max() < 4 * found.stderr.max() + 1e-3
    assert dict(zip(shown.names, found.values, strict=True))["job"] > 0.05


def test_a_row_of_a_frame(table):
    frame, pipeline = table
    shown = row(pipeline, frame.iloc[0], frame.iloc[1])
    assert np.allclose(shown(np.stack([shown.x, 0 * shown.x])), pipeline.predict_proba(frame.iloc[:2]))
    kinds = shown.parts.built(np.ones((2, 4), bool)).dtypes
    assert kinds["age"].kind == "i"
    assert kinds["smoker"].kind == "b"


def test_an_absent_value_for_every_column():
    with raises(InputError, "absent-lacks-column"):
        row(len, {"a": 1, "b": 2}, {"a": 0})
    with raises(InputError, "row-empty"):
        row(len, {}, {})


def test_they_can_be_pickled(pipeline, table):
    shown = pickle.loads(pickle.dumps(text(pipeline, REVIEW)))
    assert shown(shown.x[None]).shape == (1, 2)
    frame, model = table
    shown = pickle.loads(pickle.dumps(row(model, frame.iloc[0], frame.iloc[1])))
    assert shown(shown.x[None]).shape == (1, 2)
