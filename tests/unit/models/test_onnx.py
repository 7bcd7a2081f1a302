"""ONNX graphs as models: batches, types, several inputs and outputs, and one session per process."""

import pickle
import subprocess
import sys
from importlib.resources import files

import numpy as np
import pytest

import geex
from geex.demo.garments import garments, network
from geex.errors import InputError
from geex.models import onnx_session
from tests.helpers import raises

onnx = pytest.importorskip("onnx")
onnxruntime = pytest.importorskip("onnxruntime")
from onnx import TensorProto, helper, numpy_helper  # noqa: E402

WEIGHTS = np.random.default_rng(0).normal(size=(4, 3))
ROWS = np.random.default_rng(1).normal(size=(7, 4))
KINDS = {np.float32: TensorProto.FLOAT, np.float64: TensorProto.DOUBLE, np.float16: TensorProto.FLOAT16}


def graph(nodes, inputs, outputs, constants=(), domains=("",)):
    body = helper.make_graph(nodes, "test", inputs, outputs, list(constants))
    versions = [helper.make_opsetid(name, 17 if name == "" else 1) for name in domains]
    return helper.make_model(body, opset_imports=versions, ir_version=8).SerializeToString()


def linear(batch="n", dtype=np.float32):
    """scores = rows @ WEIGHTS"""
    return graph(
        [helper.make_node("MatMul", ["rows", "weights"], ["scores"])],
        [helper.make_tensor_value_info("rows", KINDS[dtype], [batch, 4])],
        [helper.make_tensor_value_info("scores", KINDS[dtype], [batch, 3])],
        [numpy_helper.from_array(WEIGHTS.astype(dtype), "weights")],
    )


@pytest.mark.parametrize("dtype", KINDS)
@pytest.mark.parametrize("batch", ["n", None, 1, 3, 7, 10])
def test_any_batch_size_and_type(batch, dtype):
    answer = geex.models.onnx(linear(batch, dtype))(ROWS)
    assert answer.shape == (7, 3)
    assert answer.dtype == dtype
    tolerance = {np.float16: 2e-2, np.float32: 1e-5, np.float64: 1e-12}[dtype]
    assert np.allclose(answer, ROWS @ WEIGHTS, atol=tolerance)


def test_whole_numbers_are_rounded_and_stay_in_range():
    model = geex.models.onnx(
        graph(
            [helper.make_node("Cast", ["pixels"], ["out"], to=TensorProto.FLOAT)],
            [helper.make_tensor_value_info("pixels", TensorProto.UINT8, ["n", 4])],
            [helper.make_tensor_value_info("out", TensorProto.FLOAT, ["n", 4])],
        )
    )
    assert model(np.array([[-3.0, 1.6, 254.4, 300.0]])).tolist() == [[0.0, 2.0, 254.0, 255.0]]


def several():
    """sum = a + b, difference = a − b, and a label."""
    entries = [helper.make_tensor_value_info(name, TensorProto.FLOAT, ["n", 4]) for name in ("a", "b")]
    outs = [helper.make_tensor_value_info(name, TensorProto.FLOAT, ["n", 4]) for name in ("sum", "difference")]
    nodes = [
        helper.make_node("Add", ["a", "b"], ["sum"]),
        helper.make_node("Sub", ["a", "b"], ["difference"]),
        helper.make_node("ArgMax", ["a"], ["label"], axis=1, keepdims=0),
    ]
    return graph(nodes, entries, [*outs, helper.make_tensor_value_info("label", TensorProto.INT64, ["n"])])


def test_several_inputs_and_outputs_by_name():
    fixed = np.array([1.0, 2.0, 3.0, 4.0])
    minus = geex.models.onnx(several(), input="a", inputs={"b": fixed}, output="difference")
    assert np.allclose(minus(ROWS), ROWS - fixed, atol=1e-6)
    plus = geex.models.onnx(several(), inputs={"a": fixed}, output="sum")  # the queries go to the one that is left
    assert np.allclose(plus(ROWS), ROWS + fixed, atol=1e-6)
    rows = geex.models.onnx(several(), input="a", inputs={"b": ROWS}, output="sum")  # with a batch axis: as it is
    assert np.allclose(rows(ROWS), 2 * ROWS, atol=1e-6)


@pytest.mark.parametrize(
    ("settings", "code"),
    [
        ({}, "graph-input-not-chosen"),
        ({"input": "a"}, "graph-input-missing"),
        ({"input": "c"}, "graph-input-unknown"),
        ({"inputs": {"b": 0, "d": 1}}, "graph-input-unknown"),
        ({"inputs": {"b": np.zeros(4)}}, "graph-output-not-chosen"),
        ({"inputs": {"b": np.zeros(4)}, "output": "score"}, "graph-output-unknown"),
        ({"inputs": {"b": np.zeros(4)}, "output": "sum", "providers": ["NoSuch"]}, "provider-unknown"),
    ],
)
def test_inputs_and_outputs_must_be_clear(settings, code):
    model = geex.models.onnx(several(), **settings)  # nothing is opened yet
    with raises(InputError, code):
        model(ROWS)


def test_one_provider_and_a_list_of_them_are_the_same():
    one = geex.models.onnx(several(), inputs={"b": np.ones(4)}, output="sum", providers="CPUExecutionProvider")
    assert np.allclose(one(ROWS), ROWS + 1, atol=1e-6)
    with raises(geex.errors.InputError, "labels-not-a-list"):
        geex.models.onnx(several(), labels="cat")


def test_the_label_beside_the_scores_is_not_taken_for_them():
    label = helper.make_tensor_value_info("label", TensorProto.INT64, ["n"])
    model = graph(
        [
            helper.make_node("ArgMax", ["rows"], ["label"], axis=1, keepdims=0),
            helper.make_node("Softmax", ["rows"], ["p"], axis=1),
        ],
        [helper.make_tensor_value_info("rows", TensorProto.FLOAT, ["n", 4])],
        [label, helper.make_tensor_value_info("p", TensorProto.FLOAT, ["n", 4])],
    )
    assert np.allclose(geex.models.onnx(model)(ROWS).sum(axis=1), 1, atol=1e-6)


def test_scores_by_label_as_exported_classifiers_answer():
    model = graph(
        [helper.make_node("ZipMap", ["rows"], ["scores"], classlabels_strings=list("dbca"), domain="ai.onnx.ml")],
        [helper.make_tensor_value_info("rows", TensorProto.FLOAT, ["n", 4])],
        [helper.make_value_info("scores", helper.make_sequence_type_proto(helper.make_map_type_proto(
            TensorProto.STRING, helper.make_tensor_type_proto(TensorProto.FLOAT, []))))],
        domains=("", "ai.onnx.ml"),
    )  # fmt: skip
    answer = geex.models.onnx(model, labels=list("abcd"))(ROWS)
    assert np.allclose(answer, ROWS[:, [3, 1, 2, 0]], atol=1e-6)


def test_nothing_is_opened_before_the_first_call_and_once_after_it(tmp_path, monkeypatch):
    path = tmp_path / "model.onnx"
    model = geex.models.onnx(path)  # there is no such file yet
    with raises(InputError, "graph-unreadable"):
        model(ROWS)
    path.write_bytes(linear())
    opened = []
    real = onnx_session._open_session
    monkeypatch.setattr(onnx_session, "_open_session", lambda *graph: opened.append(1) or real(*graph))
    for adapter in (model, geex.models.onnx(str(path)), pickle.loads(pickle.dumps(model))):
        adapter(ROWS)
    assert len(opened) == 1
    path.write_bytes(linear(dtype=np.float64))  # written anew: opened anew
    assert model(ROWS).dtype == np.float64


def test_a_relative_path_is_good_after_a_change_of_folder(tmp_path, monkeypatch):
    (tmp_path / "model.onnx").write_bytes(linear())
    monkeypatch.chdir(tmp_path)
    model = geex.models.onnx("model.onnx")
    monkeypatch.chdir("/")
    assert model(ROWS).shape == (7, 3)


def test_what_is_no_graph(tmp_path):
    (tmp_path / "no.onnx").write_text("no graph")
    for wrong in (tmp_path / "no.onnx", b"no graph"):
        with raises(InputError, "graph-invalid"):
            geex.models.onnx(wrong)(ROWS)
    with raises(InputError, "graph-not-a-path"):
        geex.models.onnx(3)


def test_the_shape_of_a_row():
    assert geex.models.onnx(linear()).shape == (4,)


def test_rows_of_another_shape_are_refused_with_what_is_wanted():
    model = geex.models.onnx(files("geex.demo") / "fashion.onnx")
    with raises(InputError, "row-shape"):
        geex.explain(model, np.ones((1, 20, 28), np.float32), queries=100)
    with pytest.raises(geex.errors.ExplicandError):
        geex.explain(model, np.ones((1, 1, 28, 28), np.float32), queries=100)


def test_the_graph_is_not_in_the_repr():
    assert len(repr(geex.models.onnx(linear()))) < 300


def test_the_demos_network():
    model = network()
    pictures, labels, _ = garments()
    session = onnxruntime.InferenceSession(files("geex.demo").joinpath("fashion.onnx").read_bytes())
    assert np.array_equal(model(pictures), session.run(["logits"], {"pixels": pictures})[0])
    assert model.shape == (1, 28, 28)
    assert (model(pictures).argmax(axis=1) == labels).mean() > 0.8


def test_it_opens_in_another_process(tmp_path):
    (tmp_path / "adapter").write_bytes(pickle.dumps(geex.models.onnx(linear())))
    np.save(tmp_path / "rows.npy", ROWS)
    code = (
        "import pickle, sys, numpy as np; from pathlib import Path; folder = Path(sys.argv[1]);"
        "model = pickle.loads((folder / 'adapter').read_bytes()); assert 'onnxruntime' not in sys.modules;"
        "np.save(folder / 'answer.npy', model(np.load(folder / 'rows.npy')))"
    )
    subprocess.run([sys.executable, "-c", code, str(tmp_path)], check=True)
    assert np.array_equal(np.load(tmp_path / "answer.npy"), geex.models.onnx(linear())(ROWS))


@pytest.mark.parametrize(
    ("shape", "code"),
    [((1, 1, 28, 28), "row-shape-batch-axis"), ((28, 28), "row-shape-channel-axis"), ((3, 28, 28), "row-shape")],
)
def test_another_shape_than_that_of_the_graph_has_a_fix(shape, code):
    model = geex.models.onnx(files("geex.demo") / "fashion.onnx", output="logits")
    with raises(InputError, code):
        model(np.zeros((2, *shape), np.float32))
