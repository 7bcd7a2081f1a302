"""Which columns a one-hot encoder made of which."""

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import geex
from geex.errors import FeaturesError
from tests.helpers import raises

FRAME = pd.DataFrame(
    {"job": ["nurse", "miner", "clerk", "nurse"], "age": [30.0, 40.0, 50.0, 35.0], "job_type": ["a", "b", "a", "a"]}
)


@pytest.mark.parametrize("settings", [{}, {"drop": "first"}, {"drop": "if_binary"}, {"min_frequency": 2}], ids=str)
def test_every_output_has_its_source(settings):
    encoder = OneHotEncoder(**settings).fit(FRAME[["job", "job_type"]])
    groups = geex.Groups.one_hot(encoder)
    assert groups.names() == ["job", "job_type"]
    names = encoder.get_feature_names_out()
    sources = [groups.names()[group] for group in groups.map]
    assert all(name.startswith(f"{source}_") for name, source in zip(names, sources, strict=True))
    assert sources.count("job_type") == sum(name.startswith("job_type") for name in names)


def test_a_pipeline_with_a_column_transformer():
    encode = ColumnTransformer(
        [
            ("words", make_pipeline(SimpleImputer(strategy="most_frequent"), OneHotEncoder()), ["job", "job_type"]),
            ("numbers", StandardScaler(), ["age"]),
        ]
    )
    pipeline = make_pipeline(encode, LogisticRegression()).fit(FRAME, [0, 1, 0, 1])
    groups = geex.Groups.one_hot(pipeline)
    assert groups.names() == ["job", "job_type", "numbers__age"]
    rows = pipeline[:-1].transform(FRAME)
    found = geex.explain(pipeline[-1], rows[0], baseline=rows[1], features=groups, target=1, progress=False)
    direct = geex.explain(pipeline, FRAME.iloc[0], baseline=FRAME.iloc[1], target=1, progress=False)
    # the same game: the columns of a category change together
    np.testing.assert_allclose(found.values, direct.values[[0, 2, 1]], atol=1e-9)


@pytest.mark.parametrize("wrong", [StandardScaler().fit(np.ones((2, 2))), OneHotEncoder(), 3], ids=str)
def test_what_is_no_fitted_encoder(wrong):
    with raises(FeaturesError, "encoder-unknown"):
        geex.Groups.one_hot(wrong)
