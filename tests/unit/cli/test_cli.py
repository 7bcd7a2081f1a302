"""The command line, as a person uses it."""

import io
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import patch

import numpy as np
import pytest

import geex
from geex import cli
from geex.cli import main, replay
from geex.cli.baselines import baseline_of
from geex.cli.comparison import Comparand
from geex.cli.errors import FLAGS, MESSAGES, message_of
from geex.cli.input_readers.images import Preprocessing
from geex.cli.named_classes import METHODS
from geex.errors import InputError
from tests.helpers import raises

pytest.importorskip("typer")
image = pytest.importorskip("PIL.Image")

ANY = type("Any", (), {"__eq__": lambda self, other: True})()  # the code of an error of another room
rng = np.random.default_rng(8)
FASHION = str(files("geex.demo").joinpath("fashion.onnx"))
NAMES = ["T-shirt/top", "Trouser", "Pullover", "Dress", "Coat", "Sandal", "Shirt", "Sneaker", "Bag", "Ankle boot"]
MODELS = """
import warnings
import numpy as np
asked = []
def photo(z):
    asked.append(len(z))
    return np.stack([z[:, :, :8].mean((1, 2, 3)), z.mean((1, 2, 3))], axis=1) + 0.1
def row(z):
    return np.stack([2 * z[:, 0] - z[:, 1], z.sum(1)], axis=1)
def fading(z):
    asked.append(len(z))
    if len(asked) > 20:
        raise RuntimeError("out of order")
    with warnings.catch_warnings():
        warnings.simplefilter("always")  # as scikit-learn does
        warnings.warn("these rows have no names")
    return row(z)
def broken(z):
    raise RuntimeError("out of order")
def cheerful(z):
    return z.sum((1, 2, 3)) - 1e6
class Late:
    pass
late = Late()
number = 3
"""

MINE = """
from dataclasses import dataclass
import numpy as np
import geex
@dataclass(frozen=True)
class Whole(geex.Shapley):
    share: float = 0.5
@dataclass(frozen=True)
class Enough(geex.Precise):
    pass
"""


@pytest.fixture
def here(tmp_path, monkeypatch):
    """An empty folder with a module of models, its name new for every test."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    name = f"models_{abs(hash(tmp_path))}"
    (tmp_path / f"{name}.py").write_text(MODELS)
    (tmp_path / "mine.py").write_text(MINE)
    sys.modules.pop("mine", None)
    pixels = np.random.default_rng(8).integers(0, 256, (20, 30, 3), dtype=np.uint8)
    image.fromarray(pixels).save(tmp_path / "photo.png")
    (tmp_path / "rows.csv").write_text("pay,age,height,kind\n1,2,1,a\n4,5,7,b\n0.5,1,3,a\n")
    (tmp_path / "labels.txt").write_text("left part\nwhole picture\n")
    yield SimpleNamespace(path=tmp_path, module=name, photo=f"{name}:photo", row=f"{name}:row")
    sys.path[:] = [entry for entry in sys.path if entry != str(tmp_path)]


def geex_(capsys, *words):
    """Exit code, standard output, standard error and the error of a command."""
    errors = [None]
    noting = patch.object(cli, "message_of", lambda error: errors.append(error) or message_of(error))
    with noting, pytest.raises(SystemExit) as end:
        main([str(word) for word in words])
    out, err = capsys.readouterr()
    return SimpleNamespace(code=end.value.code, out=out, err=err, error=errors[-1])


def refused(result, name, *words, code=2):
    """An error with the code `name` ("" for errors of others) and one to three lines, with `words` and no traceback."""
    assert result.code == code, result
    assert result.out == ""
    assert getattr(result.error, "code", "") == name, result
    python = rf"\w=(?:…|\{{|\[|geex)|geex\.\w+\(|`(?:{'|'.join(FLAGS)})`"
    assert not re.search(python, result.err), f"Python in an error: {result.err}"
    lines = [line for line in result.err.splitlines() if not line.startswith("geex: note")]
    assert 1 <= len(lines) <= 3, result.err
    assert lines[0].startswith("geex: ")
    for word in words:
        assert word in result.err, result.err


# explain


def test_a_photo_becomes_every_kind_of_file(here, capsys):
    names = ["a.html", "a.png", "a.svg", "a.npz", "a.json"]
    outputs = [word for name in names for word in ("-o", name)]
    result = geex_(
        capsys,
        "explain",
        here.photo,
        "photo.png",
        "-q",
        301,
        "-m",
        "GEEX(sigma=0.3)",
        "--labels",
        "labels.txt",
        "-t",
        "left part",
        *outputs,
    )
    assert result.code == 0, result
    assert all((here.path / name).stat().st_size > 500 for name in names)
    for line in ("left part", "301 queries", "GEEX(sigma=0.3)", "Seed 0", "wrote a.html"):
        assert line in result.out
    saved = geex.Explanation.load("a.npz")
    assert saved.values.shape == (20, 30)
    assert saved.labels == ["left part", "whole picture"]
    told = json.loads((here.path / "a.json").read_text())
    np.testing.assert_array_equal(told["values"], saved.values)
    assert "geex explain" in (here.path / "a.html").read_text()


def test_json_is_for_machines(here, capsys):
    result = geex_(capsys, "explain", here.photo, "photo.png", "-q", 201, "--json", "-t", 1)
    told = json.loads(result.out)
    assert told["target"] == 1
    assert told["queries"] == 201
    assert len(told["largest"]) == 20
    assert "values" not in told


def test_the_same_command_gives_the_same_bytes(here, capsys):
    for name in ("a.npz", "b.npz"):
        assert geex_(capsys, "explain", here.photo, "photo.png", "-q", 200, "--seed", 4, "-o", name).code == 0
    np.testing.assert_array_equal(geex.Explanation.load("a.npz").values, geex.Explanation.load("b.npz").values)


def test_an_onnx_file_says_how_it_wants_the_image(here, capsys):
    pytest.importorskip("onnxruntime")
    (here.path / "garments.txt").write_text("\n".join(NAMES))
    words = ["--labels", "garments.txt", "--score", "softmax", "--mean", 0.1307, "--std", 0.3081, "-q", 300]
    result = geex_(capsys, "explain", FASHION, "photo.png", *words, "-t", "ANKLE BOOT", "-o", "a.npz")
    assert result.code == 0, result
    saved = geex.Explanation.load("a.npz")
    assert saved.explicand.shape == (1, 28, 28)
    assert saved.values.shape == (28, 28)
    assert saved.target == 9
    refused(geex_(capsys, "explain", FASHION, "photo.png", *words, "-t", "ankle boat"), ANY, "'Ankle boot'")
    refused(geex_(capsys, "explain", FASHION, "photo.png", "-t", "boot"), "labels-missing", "--labels FILE")
    assert isinstance(
        geex_(capsys, "explain", FASHION, "photo.png", "-t", "99", "-q", 50).error, geex.errors.TargetError
    )


def test_a_row_of_a_table_is_explained_by_its_columns(here, capsys):
    words = ["--row", 1, "--drop", "kind", "--json", "-t", 0, "-o", "a.html"]
    result = geex_(capsys, "explain", here.row, "rows.csv", *words)
    told = json.loads(result.out)
    found = {entry["feature"]: entry["value"] for entry in told["largest"]}
    assert found == pytest.approx({"pay": 2 * (4 - 5.5 / 3), "age": -(5 - 8 / 3), "height": 0}, abs=1e-5)
    assert told["settings"]["method"] == "Shapley()"
    refused(geex_(capsys, "explain", here.row, "rows.csv"), "cell-not-a-number", "'kind'", "--drop")
    refused(geex_(capsys, "explain", here.row, "rows.csv", "--drop", "kin"), "column-missing", "'kind'")
    refused(
        geex_(capsys, "explain", here.row, "rows.csv", "--drop", "kind", "--row", 3), "row-missing", "--row", "0 … 2"
    )


def test_a_parquet_file_is_a_table_too(here, capsys):
    pytest.importorskip("pyarrow")
    from pyarrow import parquet, table

    parquet.write_table(table({"pay": [1.0, 4.0, 0.5], "age": [2, 5, 1], "height": [1, 7, 3]}), "rows.parquet")
    result = geex_(capsys, "explain", here.row, "rows.parquet", "--row", 1, "--json", "-t", 0)
    told = {entry["feature"]: entry["value"] for entry in json.loads(result.out)["largest"]}
    assert told == pytest.approx({"pay": 2 * (4 - 5.5 / 3), "age": -(5 - 8 / 3), "height": 0}, abs=1e-5)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("", "input-empty"),
        ("a,b\n", "table-empty"),
        ("a,b\n1\n", "row-length"),
        ("a,a\n1,2\n", "header-repeats"),
        ("a,b\n1,\n", "cell-empty"),
        ('a,b\n"1,2\n', "csv-unreadable"),
    ],
)
def test_tables_that_are_none(here, capsys, text, name):
    (here.path / "wrong.csv").write_text(text)
    refused(geex_(capsys, "explain", here.row, "wrong.csv"), name, "wrong.csv")


def test_an_array_is_taken_as_it_is(here, capsys):
    np.save("x.npy", rng.uniform(size=(3, 10, 12)))
    result = geex_(capsys, "explain", here.photo, "x.npy", "-q", 200, "-o", "a.npz", "--baseline", "0.1,0.2,0.3")
    assert result.code == 0, result
    assert geex.Explanation.load("a.npz").values.shape == (10, 12)
    np.save("many.npy", np.array([{"a": 1}], dtype=object), allow_pickle=True)
    refused(geex_(capsys, "explain", here.photo, "many.npy"), "npy-unreadable", "many.npy")


def test_the_batch_axis_of_one_image_is_taken_off(here, capsys):
    rng = np.random.default_rng(0)
    np.save("x.npy", rng.uniform(size=(1, 3, 10, 12)))
    result = geex_(capsys, "explain", here.photo, "x.npy", "-q", 60, "-o", "a.npz")
    assert "note: x.npy has a batch axis of 1, which is removed" in result.err
    assert geex.Explanation.load("a.npz").values.shape == (10, 12)


def test_groups_elements_and_pixels(here, capsys):
    np.save("groups.npy", np.arange(20 * 30).reshape(20, 30) // 150)
    for features, shape in (("groups.npy", (4,)), ("elements", (3, 20, 30)), ("pixels", (20, 30))):
        words = ["explain", here.photo, "photo.png", "-q", 200, "--features", features, "-o", "a.npz", "-o", "a.html"]
        assert geex_(capsys, *words).code == 0
        assert geex.Explanation.load("a.npz").values.shape == shape


def test_standard_input_and_output(here, capsysbinary, monkeypatch):
    def piped(content, *words):
        monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(content)))
        with pytest.raises(SystemExit) as end:
            main([str(word) for word in words])
        assert end.value.code == 0
        return capsysbinary.readouterr()

    photo = (here.path / "photo.png").read_bytes()
    out, err = piped(photo, "explain", here.photo, "-", "-q", 101, "-o", "-")
    assert len(json.loads(out)["values"]) == 20
    assert b"101 queries" in err
    assert piped(photo, "explain", here.photo, "-", "-q", 101, "-o", "-.html").out.startswith(b"<!DOCTYPE html>")
    assert piped(photo, "explain", here.photo, "-", "-q", 101, "-o", "-.png").out.startswith(b"\x89PNG")
    array = io.BytesIO()
    np.save(array, np.ones((3, 10, 10)))
    assert piped(array.getvalue(), "explain", here.photo, "-", "-q", 101, "-o", "-.npz").out.startswith(b"PK")
    out = piped(b"pay,age\n1,2\n4,5\n", "explain", here.row, "-", "--json").out
    assert json.loads(out)["settings"]["method"] == "Shapley()"


# images of all kinds


def pixels_of(here, capsys, name, *words):
    result = geex_(capsys, "explain", here.photo, name, "-q", 60, "-o", "a.npz", *words)
    assert result.code == 0, result
    return geex.Explanation.load("a.npz").explicand, result.err


def test_cmyk_grey_and_palette_become_rgb(here, capsys):
    colour = image.new("RGB", (30, 20), (255, 0, 0))
    colour.convert("CMYK").save("cmyk.jpg", quality=95)
    found, _ = pixels_of(here, capsys, "cmyk.jpg")
    np.testing.assert_allclose(found.mean((1, 2)), [1, 0, 0], atol=0.05)
    colour.convert("P").save("palette.png")
    np.testing.assert_allclose(pixels_of(here, capsys, "palette.png")[0].mean((1, 2)), [1, 0, 0], atol=0.02)
    image.new("L", (30, 20), 51).save("grey.png")
    np.testing.assert_allclose(pixels_of(here, capsys, "grey.png")[0], 0.2, atol=1e-6)


def test_transparent_parts_become_white(here, capsys):
    picture = image.new("RGBA", (30, 20), (255, 0, 0, 0))
    picture.paste((0, 0, 255, 255), (0, 0, 15, 20))
    picture.save("alpha.png")
    found, notes = pixels_of(here, capsys, "alpha.png")
    np.testing.assert_allclose(found[:, 5, 25], [1, 1, 1])
    np.testing.assert_allclose(found[:, 5, 5], [0, 0, 1])
    assert "transparent" in notes


def test_sixteen_bits_keep_their_brightness(here, capsys):
    image.fromarray(np.full((20, 30), 65535 // 2, np.uint16)).save("deep.png")
    found, notes = pixels_of(here, capsys, "deep.png")
    np.testing.assert_allclose(found, 0.5, atol=0.005)
    assert "16 bits" in notes


def test_exif_turns_the_picture_upright(here, capsys):
    picture = image.new("RGB", (30, 20), (0, 0, 0))
    picture.paste((255, 255, 255), (0, 0, 30, 4))
    exif = picture.getexif()
    exif[0x0112] = 6
    picture.save("turned.png", exif=exif)
    found, notes = pixels_of(here, capsys, "turned.png")
    assert found.shape == (3, 30, 20)
    assert found[:, :, -3:].min() == 1
    assert "upright" in notes


def test_of_an_animation_the_first_picture_is_taken(here, capsys):
    frames = [image.new("RGB", (30, 20), (value, value, value)) for value in (255, 0, 0)]
    frames[0].save("moving.gif", save_all=True, append_images=frames[1:])
    found, notes = pixels_of(here, capsys, "moving.gif")
    assert found.min() == 1
    assert "animated" in notes


def test_files_that_are_no_images_are_named(here, capsys):
    whole = (here.path / "photo.png").read_bytes()
    (here.path / "cut.png").write_bytes(whole[: len(whole) // 2])
    (here.path / "text.png").write_text("hello")
    (here.path / "empty.png").write_text("")
    refused(geex_(capsys, "explain", here.photo, "cut.png"), "image-unreadable", "cut.png")
    refused(geex_(capsys, "explain", here.photo, "text.png"), "format-unknown", "text.png")
    refused(geex_(capsys, "explain", here.photo, "empty.png"), "input-empty", "empty.png")
    refused(geex_(capsys, "explain", here.photo, "none.png"), "", "none.png: No such file")
    refused(geex_(capsys, "explain", here.photo, "."), "", "directory")
    image.fromarray(np.ones((20, 30), np.float32)).save("float.tiff")
    refused(geex_(capsys, "explain", here.photo, "float.tiff"), "image-of-floats")


def test_size_order_mean_and_deviation(here, capsys):
    image.new("RGB", (40, 20), (255, 128, 0)).save("wide.png")
    words = ["--size", "10x12", "--mean", "0.5,0.5,0.5", "--std", "0.5", "--order", "hwc"]
    np.save("first.npy", np.zeros(1))
    (here.path / "last.py").write_text("def model(z):\n    return z.mean((1, 2, 3)) + 3\n")
    result = geex_(capsys, "explain", "last:model", "wide.png", "-q", 60, "-o", "a.npz", *words)
    assert result.code == 0, result
    found = geex.Explanation.load("a.npz")
    assert found.explicand.shape == (10, 12, 3)
    assert found.values.shape == (10, 12)
    np.testing.assert_allclose(found.explicand[3, 3], [1, 128 / 127.5 - 1, -1], atol=1e-6)
    found, _ = pixels_of(here, capsys, "wide.png", "--scale", 255, "--size", 8)
    np.testing.assert_allclose(found[:, 0, 0], [255, 128, 0], atol=1e-4)
    refused(geex_(capsys, "explain", here.photo, "wide.png", "--size", "big"), "size-form", "--size", "'big'")
    refused(geex_(capsys, "explain", here.photo, "wide.png", "--std", "0"), "std-zero", "--std")
    refused(geex_(capsys, "explain", here.photo, "wide.png", "--mean", "1,2"), "channel-count", "--mean")
    refused(geex_(capsys, "explain", here.photo, "wide.png", "--order", "whc"), "order-unknown", "--order")


def test_the_centre_is_cut_out_unless_squeezed(here, capsys):
    picture = image.new("RGB", (40, 20), (0, 0, 0))
    picture.paste((255, 255, 255), (10, 0, 30, 20))
    picture.save("wide.png")
    cut, _ = pixels_of(here, capsys, "wide.png", "--size", 10)
    assert cut.min() > 0.9
    squeezed, _ = pixels_of(here, capsys, "wide.png", "--size", 10, "--squeeze")
    assert squeezed.min() < 0.1


# models of other kinds


def test_estimators_and_modules_are_taken_as_they_are(here, capsys):
    pytest.importorskip("sklearn")
    pytest.importorskip("torch")
    (here.path / "trained.py").write_text(
        "import numpy as np, torch\n"
        "from sklearn.linear_model import LogisticRegression\n"
        "rows = np.random.default_rng(0).normal(size=(50, 3))\n"
        "estimator = LogisticRegression().fit(rows, np.where(rows[:, 0] > 0, 'good', 'bad'))\n"
        "module = torch.nn.Linear(3, 2)\n"
    )
    result = geex_(capsys, "explain", "trained:estimator", "rows.csv", "--drop", "kind", "-t", "good", "--json")
    told = json.loads(result.out)
    assert told["label"] == "good"
    assert told["largest"][0]["feature"] == "pay"
    assert geex_(capsys, "explain", "trained:module", "rows.csv", "--drop", "kind").code == 0


def test_a_model_behind_an_address(here, capsys, monkeypatch):
    pytest.importorskip("httpx")
    from tests.servers import Loopback, Reply

    def service(request):
        if request.headers.get("Authorization") != "Bearer abc":
            return Reply(b"who are you?", status=401)
        rows = np.array(json.loads(request.body)["instances"])
        return Reply(json.dumps({"found": [{"score": float(row @ [2, -1, 0])} for row in rows]}).encode())

    monkeypatch.setenv("SERVICE_TOKEN", "Bearer abc")
    with Loopback(service) as server:
        words = ["explain", f"{server.url}/score?key=topsecret", "rows.csv", "--row", 1, "--drop", "kind", "-q", 101]
        words += ["--request", '{"instances": "{rows}"}', "--response", "found.*.score", "--concurrency", 2]
        result = geex_(capsys, *words, "--header", "Authorization: env:SERVICE_TOKEN", "-o", "a.html", "--json")
        assert result.code == 0, result
        found = {entry["feature"]: entry["value"] for entry in json.loads(result.out)["largest"]}
        assert found["pay"] == pytest.approx(2 * (4 - 5.5 / 3), abs=1e-5)
        report = (here.path / "a.html").read_text()
        assert "abc" not in report
        assert "topsecret" not in report
        assert "Authorization: env:SERVICE_TOKEN" in report
        refused(
            geex_(capsys, *words, "--header", "Authorization: wrong"), "service-unauthorised", "401", "--header", code=1
        )
        refused(geex_(capsys, *words, "--header", "Authorization"), "header-form", "--header")
        refused(geex_(capsys, *words[:-4], "--request", "{rows}"), "request-not-json", "--request")


# mistakes


def test_models_that_are_none(here, capsys):
    refused(geex_(capsys, "explain", "model.onnx", "photo.png"), "model-file-missing", "model.onnx")
    refused(geex_(capsys, "explain", "model.bin", "photo.png"), "model-unknown", "ONNX file")
    refused(geex_(capsys, "explain", "nowhere:model", "photo.png"), "module-missing", "'nowhere'")
    refused(geex_(capsys, "explain", f"{here.module}:nothing", "photo.png"), "object-missing", "'nothing'")
    refused(geex_(capsys, "explain", f"{here.module}:number", "photo.png"), "model-not-callable", "int")
    (here.path / "garbage.onnx").write_text("hello")
    assert geex_(capsys, "explain", "garbage.onnx", "photo.png").code in (1, 2)


def test_a_model_that_fails_is_exit_code_one(here, capsys):
    refused(geex_(capsys, "explain", f"{here.module}:broken", "photo.png", "-q", 60), ANY, "out of order", code=1)


def test_debug_shows_where(here, capsys):
    result = geex_(capsys, "explain", f"{here.module}:broken", "photo.png", "-q", 60, "--debug")
    assert "Traceback" in result.err
    assert result.code == 1


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--rwo", "1"], ["", "No such option", "geex explain --help"]),
        (["-q", "many"], ["", "-q"]),
        (["-q", "0"], ["", "-q"]),
        (["-q", "1"], [ANY, "1"]),
        (["--seed", "-1"], ["", "--seed"]),
        (["--batch", "0"], ["", "--batch"]),
        (["--attempts", "0"], ["", "--attempts"]),
        (["--rate", "0"], ["rate-not-positive", "--rate"]),
        (["-m", "gexx"], ["class-unknown", "--method", "Did you mean geex?"]),
        (["-m", "GEEX(sigma=-1)"], [ANY, "sigma"]),
        (["-m", "GEEX(sgima=1)"], ["setting-unknown", "sigma, smooth"]),
        (["-m", "__import__('os').system('true')"], ["class-not-evaluated", "--method"]),
        (["-m", "gaussian"], ["class-of-another-kind", "--method"]),
        (["-m", "nowhere:Method"], ["module-missing", "--method", "'nowhere'"]),
        (["-m", "mine:Nothing"], ["object-missing", "--method", "'Nothing'"]),
        (["-m", "mine:Whole(part=1)"], ["setting-unknown", "share"]),
        (["-m", "mine:Enough"], ["class-of-another-kind", "--method"]),
        (["--stop", "foo"], ["class-unknown", "--stop", "precise, settled"]),
        (["--stop", "geex"], ["class-of-another-kind", "--stop"]),
        (["--stop", "Precise(tolerance=abs)"], ["class-unknown", "--stop"]),
        (["--score", "sotfmax"], ["score-unknown", "--score", "softmax"]),
        (["--baseline", "grey"], ["baseline-unknown", "--baseline"]),
        (["--baseline", "blur:4,1"], [ANY, "odd"]),
        (["-m", "guided,regression"], ["class-several", "--method", "Repeat"]),
        (["--baseline", "mean:3"], ["baseline-unknown", "--baseline"]),
        (["--baseline", "mean"], ["baseline-mean-without-table", "--baseline"]),
        (["--baseline", "1,2,3,4,5"], ["per-channel-length", "--baseline"]),
        (["-m", "regression(of=Shapley())"], ["of-regresses", "--method"]),
        (["-m", "collections:Counter"], ["class-of-another-kind", "geex.Method"]),
        (["--stop", "mine:Whole"], ["class-of-another-kind", "geex.Stop"]),
        (["--score", "bounded"], ["score-unknown", "answer, softmax, log_odds, margin or auto"]),
        (["-q", "3"], [ANY, "--queries"]),
        (["--features", "words"], ["features-unknown", "--features"]),
        (["-o", "a.gif"], ["suffix-unknown", ".html", "'a.gif'"]),
        (["-o", "nowhere/a.html"], ["folder-missing", "'nowhere'"]),
        (["--journal", "nowhere/run.geex"], ["folder-missing", "--journal"]),
        (["--journal", "photo.png"], ["journal-other-file", "--journal"]),
        (["--labels", "none.txt"], ["", "none.txt: No such file"]),
        (["--labels", "photo.png"], ["labels-unreadable", "photo.png"]),
    ],
)
def test_wrong_use_is_told_before_anything_is_asked(here, capsys, words, told):
    refused(geex_(capsys, "explain", here.photo, "photo.png", *words), *told)
    assert sys.modules[here.module].asked == [] if here.module in sys.modules else True


def test_labels_have_to_fit(here, capsys):
    (here.path / "three.txt").write_text("a\nb\nc\n")
    result = geex_(capsys, "explain", here.photo, "photo.png", "-q", 60, "--labels", "three.txt")
    refused(result, ANY, "3", "2 outputs", "--labels")
    refused(geex_(capsys, "explain", here.photo, "photo.png", "-q", 60, "-t", 99), ANY, "2 outputs", "--target")
    (here.path / "labels.json").write_text('{"0": ["n1", "cat"], "1": ["n2", "dog"]}')
    assert (
        "(cat)" in geex_(capsys, "explain", here.photo, "photo.png", "-q", 60, "--labels", "labels.json", "-t", 0).out
    )


def test_a_method_and_a_stop_rule_of_the_users_own(here, capsys):
    words = ["explain", here.row, "rows.csv", "--drop", "kind", "--row", 1, "-t", 0, "--json"]
    mine = geex_(capsys, *words, "-m", "mine:Whole(share=0.25)", "--stop", "mine:Enough(tolerance=0.2)")
    assert mine.code == 0, mine
    assert json.loads(mine.out)["largest"] == json.loads(geex_(capsys, *words, "-m", "shapley").out)["largest"]
    assert geex_(capsys, *words, "-m", "mine:Whole(share=0.25)", "--journal", "run.geex").code == 0
    unknown = geex.errors.JournalError("Pass it again as method=….", code="journal-unknown-name")
    assert "geex resume" in message_of(unknown)[0]
    assert geex_(capsys, "resume", "run.geex", "--yes", "--quiet").code == 0
    nested = geex_(capsys, *words, "-m", "Regression(of=mine:Whole())")
    assert nested.code in (0, 2), nested  # a regression of Shapley values may be refused


def test_every_message_belongs_to_an_error():
    source = "".join(path.read_text() for path in Path(geex.__file__).parent.rglob("*.py") if path.parent.name != "cli")
    for name in MESSAGES:
        assert f'"{name}"' in source, name


def test_a_model_with_two_inputs_is_refused_in_the_words_of_the_command_line(here, capsys):
    onnx = pytest.importorskip("onnx")
    pytest.importorskip("onnxruntime")
    both = [onnx.helper.make_tensor_value_info(name, 1, ["n", 3]) for name in ("a", "b")]
    scores = [onnx.helper.make_tensor_value_info(name, 1, ["n", 3]) for name in ("sum", "difference")]
    nodes = [onnx.helper.make_node(*node) for node in (("Add", "ab", ["sum"]), ("Sub", "ab", ["difference"]))]
    model = onnx.helper.make_model(
        onnx.helper.make_graph(nodes, "two", both, scores),
        opset_imports=[onnx.helper.make_opsetid("", 17)],
        ir_version=8,
    )
    (here.path / "two.onnx").write_bytes(model.SerializeToString())
    words = ["explain", "two.onnx", "rows.csv", "--drop", "kind"]
    refused(geex_(capsys, *words), "graph-input-not-chosen", "--input-name")
    refused(geex_(capsys, *words, "--input-name", "a"), "graph-input-missing", "module:function")


def test_options_are_in_panels(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "100")
    text = geex_(capsys, "explain", "--help").out
    for panel in ("What is explained", "Method and budget", "Preparation of INPUT", "Connection to MODEL", "Results"):
        assert panel in text
    for method in METHODS:
        assert method in text
    for command in ("compare", "evaluate"):
        assert ".html" not in geex_(capsys, command, "--help").out
    assert "5000" not in geex_(capsys, "demo", "--help").out


def test_nothing_to_do_shows_the_help(capsys):
    with pytest.raises(SystemExit):
        main([])
    out, err = capsys.readouterr()
    assert "explain" in out + err
    assert geex_(capsys, "--version").out.strip() == f"geex {geex.__version__}"
    for command in ("explain", "compare", "evaluate", "resume", "show", "demo"):
        result = geex_(capsys, command, "--help")
        assert result.code == 0
        assert f"geex {command}" in result.out
        assert "Example: geex" in result.out


def test_missing_extras_say_what_to_install(here, capsys, monkeypatch):
    def without(*modules):
        for module in modules:
            monkeypatch.setitem(sys.modules, module, None)

    without("matplotlib.figure")
    drawn = geex_(capsys, "explain", here.photo, "photo.png", "-q", 60, "-o", "a.png")
    refused(drawn, ANY, "pip install", code=1)
    without("onnxruntime")
    shutil.copy(FASHION, "new.onnx")  # an open graph stays open
    refused(geex_(capsys, "explain", "new.onnx", "photo.png"), "onnxruntime-missing", code=1)
    without("httpx")
    refused(geex_(capsys, "explain", "http://127.0.0.1:9/", "photo.png"), "httpx-missing", code=1)
    without("PIL")
    refused(geex_(capsys, "explain", here.photo, "photo.png"), "pillow-missing", code=1)
    without("efficientnet_lite_pytorch")
    refused(geex_(capsys, "demo", "--photo"), ANY, "pip install --no-deps efficientnet_lite_pytorch", code=1)
    without("geex.cli.app")
    monkeypatch.setitem(sys.modules, "typer", None)
    monkeypatch.delitem(sys.modules, "geex.cli.app")
    monkeypatch.delitem(sys.modules, "geex.cli.options", raising=False)
    refused(geex_(capsys, "--version"), "", "pip install typer", code=1)


# the other commands


def test_methods_are_compared(here, capsys):
    methods = ["geex", "Regression(of=GEEX(sigma=0.3))", "rise"]
    words = ["compare", here.photo, "photo.png", "-q", 300, *(word for name in methods for word in ("-m", name))]
    result = geex_(capsys, *words, "-o", "a.png", "-o", "a.json")
    assert result.code == 0, result
    assert "deletion AOPC" in result.out
    assert "does not add up" in result.out
    assert (here.path / "a.png").read_bytes().startswith(b"\x89PNG")
    told = json.loads((here.path / "a.json").read_text())
    assert [entry["name"] for entry in told] == methods
    assert all(0 < entry["deletion_aopc"] < 1 for entry in told)
    refused(geex_(capsys, "compare", here.photo, "photo.png", "-m", "rsie"), "class-unknown", "Did you mean rise?")
    low = geex_(capsys, "compare", f"{here.module}:cheerful", "photo.png", "-m", "geex", "-m", "rise", "-q", 60)
    assert "--score softmax" in low.out


def test_a_gap_that_is_rounding_is_none():
    exact = geex.explain(lambda z: z.sum(1), np.array([0.1, 0.2, 0.3]), queries=20, progress=False)
    cells = [
        Comparand("one", replace(exact, gap=gap, gap_stderr=1e-17), None, None, {}).cells() for gap in (1e-15, 0.25)
    ]
    assert [row[3] for row in cells] == ["0", "+0.25 ± 1.0e−17"]


def test_saved_explanations_are_evaluated(here, capsys):
    assert geex_(capsys, "explain", here.photo, "photo.png", "-q", 300, "-o", "one.npz", "--baseline", 0.2).code == 0
    result = geex_(capsys, "evaluate", here.photo, "one.npz", "--json", "-o", "curves.png")
    told = json.loads(result.out)[0]
    saved = geex.Explanation.load("one.npz")
    model = sys.modules[here.module].photo
    settings = {"features": saved.features, "target": saved.target, "replacement": 0.2, "step": 12}
    exact = geex.evaluate.deletion(model, saved.explicand, saved.values, **settings)
    assert told["deletion_aopc"] == pytest.approx(exact.aopc)
    assert (here.path / "curves.png").exists()
    refused(geex_(capsys, "evaluate", here.photo, "photo.png"), ANY)


def test_what_is_not_alike_is_not_compared(here, capsys):
    for name, *other in (("one",), ("two", "--seed", 1), ("output", "-t", 0), ("dark", "-t", 1, "--baseline", 0.0)):
        words = ["explain", here.photo, "photo.png", "-q", 60, "-o", f"{name}.npz", "--baseline", 0.2, "-t", 1, *other]
        assert geex_(capsys, *words).code == 0
    alike = geex_(capsys, "evaluate", here.photo, "one.npz", "two.npz")
    assert "Not comparable" not in alike.out
    unlike = geex_(capsys, "evaluate", here.photo, "one.npz", "output.npz", "dark.npz")
    assert "these differ in their output and replacement." in unlike.out
    given = geex_(capsys, "evaluate", here.photo, "one.npz", "dark.npz", "--baseline", 0.2)
    assert "Not comparable" not in given.out
    for name, level in (("grey", 0.2), ("light", 0.9)):
        np.save(f"{name}.npy", np.full(geex.Explanation.load("one.npz").explicand.shape, level))
        words = [
            "explain",
            here.photo,
            "photo.png",
            "-q",
            60,
            "-o",
            f"{name}.npz",
            "--baseline",
            f"{name}.npy",
            "-t",
            1,
        ]
        assert geex_(capsys, *words).code == 0
    arrays = geex_(capsys, "evaluate", here.photo, "grey.npz", "light.npz")
    assert "these differ in their replacement." in arrays.out


def test_a_saved_explanation_is_shown_in_another_form(here, capsys):
    words = ["explain", here.photo, "photo.png", "-q", 101, "-t", 0, "-o", "one.npz", "--labels", "labels.txt"]
    first = geex_(capsys, *words).out
    result = geex_(capsys, "show", "one.npz", "-o", "one.html")
    assert result.out.replace("wrote one.html", "") == first.replace("wrote one.npz", "")
    assert (here.path / "one.html").stat().st_size > 5000
    refused(geex_(capsys, "show", "one.npz", "-t", "whole picture"), "target-not-stored", "--target")
    refused(geex_(capsys, "show", "photo.png"), ANY)
    refused(geex_(capsys, "show", "none.npz"), "", "none.npz: No such file")


def test_a_run_is_resumed_and_asks_only_what_is_missing(here, capsys):
    words = ["explain", "--journal", "run.geex", here.photo, "photo.png", "-q", 201]
    assert geex_(capsys, *words).code == 0
    asked = sys.modules[here.module].asked
    before = sum(asked)
    result = geex_(capsys, "resume", "run.geex", "--yes", "-q", 301, "-o", "a.npz")
    assert result.code == 0, result
    assert sum(asked) - before == 100 + 2, "x and the baseline, to compare"
    assert geex.Explanation.load("a.npz").queries == 301
    before = sum(asked)
    assert "301 queries" in geex_(capsys, "show", "run.geex", "-t", 1).out
    assert "301 queries" in geex_(capsys, "resume", "run.geex", "-y").out
    assert sum(asked) == before + 2
    refused(geex_(capsys, "resume", "run.geex", "-q", 100), "budget-shrinks", "301")
    refused(geex_(capsys, "resume", "none.geex"), "journal-missing")
    (here.path / "run.geex.command.json").unlink()
    refused(geex_(capsys, "resume", "run.geex"), "command-unreadable", "--journal")


def test_a_run_is_resumed_quietly(here, capsys, monkeypatch):
    bars, plain = [], geex.explain
    monkeypatch.setattr(
        geex, "explain", lambda *given, **named: bars.append(named["progress"]) or plain(*given, **named)
    )
    assert geex_(capsys, "explain", "--journal", "run.geex", here.photo, "photo.png", "-q", 61).code == 0
    assert geex_(capsys, "resume", "run.geex", "--yes", "--quiet").code == 0
    assert geex_(capsys, "resume", "run.geex", "--yes").code == 0
    assert bars == [True, False, True]


def test_a_journal_that_is_not_through_is_shown_as_such_with_the_names_of_its_command(here, capsys, monkeypatch):
    words = ["explain", f"{here.module}:fading", "rows.csv", "--drop", "kind", "--labels", "labels.txt", "-m", "geex"]
    failed = geex_(capsys, *words, "-q", 2001, "--batch", 20, "--journal", "run.geex")
    assert failed.code == 1
    assert failed.err.count("these rows have no names") == 1
    (here.path / "elsewhere").mkdir()
    monkeypatch.chdir(here.path / "elsewhere")
    result = geex_(capsys, "show", "../run.geex", "-o", "part.html")
    assert "whole picture" in result.out.splitlines()[0], result
    assert "stopped before it was through" in result.out
    told = json.loads(geex_(capsys, "show", "../run.geex", "--json").out)
    assert {entry["feature"] for entry in told["largest"]} == {"pay", "age", "height"}
    assert "The run was stopped before it was through" in Path("part.html").read_text()
    assert geex_(capsys, "show", "../run.geex", "-t", "left part").out.splitlines()[0].count("left part") == 1
    (here.path / "rows.csv").write_text("age,pay,height\n9,9,9\n")  # no longer what was explained
    (here.path / "labels.txt").unlink()
    changed = geex_(capsys, "show", "../run.geex").out
    assert "pay" not in changed
    assert "output 1" in changed.splitlines()[0]
    assert "whole picture" not in changed


@pytest.mark.slow
def test_a_run_that_is_stopped_says_how_to_go_on(here):
    (here.path / "slow.py").write_text(
        "import pathlib, time\n"
        "def model(z):\n"
        "    with open('asked', 'a') as file:\n"
        "        file.write('x' * len(z))\n"
        "    time.sleep(0.02)\n"
        "    return z.mean((1, 2, 3)) + z[:, :, 5:9].mean((1, 2, 3))\n"
    )
    source = str(Path(geex.__file__).parents[1])
    words = [
        "explain",
        "slow:model",
        "photo.png",
        "-m",
        "geex",
        "-q",
        "100001",
        "--batch",
        "20",
        "--journal",
        "run.geex",
    ]
    process = subprocess.Popen(
        [sys.executable, "-m", "geex", *words, "-o", "part.npz"],
        env={**os.environ, "PYTHONPATH": source},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    asked = here.path / "asked"
    while process.poll() is None and not (asked.exists() and asked.stat().st_size > 200):
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    _, told = process.communicate(timeout=60)
    assert process.returncode == 1, told
    assert "geex resume run.geex" in told
    assert "journal=" not in told
    assert geex.Explanation.load("part.npz").partial


def test_resuming_from_another_folder(here, capsys, monkeypatch):
    assert geex_(capsys, "explain", here.photo, "photo.png", "-q", 100, "--journal", "run.geex").code == 0
    (here.path / "elsewhere").mkdir()
    monkeypatch.chdir(here.path / "elsewhere")
    result = geex_(capsys, "resume", "../run.geex", "--yes", "-o", "a.npz")
    assert result.code == 0, result
    assert (here.path / "elsewhere" / "a.npz").exists()


def test_the_command_that_is_kept_holds_no_secret(here):
    words = ["explain", "https://me:pass@host/v2?key=abc", "x.npy", "--header", "Authorization: Bearer abc"]
    words += ["--header=X-Key: abc", "--header", "X-Other: env:TOKEN"]
    told = replay.command_line(
        [*words, "--request", '{"auth": {"api_key": "abc"}, "token": "{rows}", "model": "cats"}']
    )
    assert "cats" in told
    assert "{rows}" in told
    assert "abc" not in replay.command_line(["--request=" + '[{"password": "abc"}]'])
    assert replay.command_line(["--request", "no json"]) == "geex --request '…'"
    for secret in ("pass", "abc", "me:"):
        assert secret not in told
    assert "env:TOKEN" in told
    assert "host/v2" in told
    replay.store_command("run.geex", words, words[1])
    assert "abc" not in (here.path / "run.geex.command.json").read_text()
    (here.path / "run.geex").write_text("")
    with raises(geex.errors.InputError, "secrets-missing"):
        replay.arguments_to_resume("run.geex", {}, None)
    given, folder = replay.arguments_to_resume("run.geex", {"--header": ["A: b"]}, "https://host/v2?key=new")
    assert given == ["explain", "https://host/v2?key=new", "x.npy", "--header", "A: b"]
    assert folder == str(here.path)


def test_the_demo_writes_a_report(here, capsys):
    pytest.importorskip("onnxruntime")
    result = geex_(capsys, "demo", "-q", 300)
    assert result.code == 0, result
    assert "Ankle boot" in result.out
    assert "wrote geex-demo.html" in result.out
    assert (here.path / "geex-demo.html").stat().st_size > 20000
    refused(geex_(capsys, "demo", "-o", "a.png"), "suffix-unknown", ".html")


@pytest.mark.slow
def test_as_a_program_with_completion(here):
    def run(*words, **more):
        source = str(Path(geex.__file__).parents[1])
        environment = {**os.environ, "PYTHONPATH": source, **more}
        return subprocess.run([sys.executable, "-m", "geex", *words], capture_output=True, text=True, env=environment)

    assert run("--version").stdout == f"geex {geex.__version__}\n"
    wrong = run("explain", "model.onnx", "photo.png")
    assert wrong.returncode == 2
    assert wrong.stderr.count("\n") == 1
    completed = run(_GEEX_COMPLETE="complete_bash", COMP_WORDS="geex ex", COMP_CWORD="1")
    assert completed.stdout.split() == ["explain"]


def test_a_reader_that_goes_away_is_no_error_message(here):
    source = str(Path(geex.__file__).parents[1])
    code = f"{sys.executable} -m geex explain {here.photo} photo.png -q 60 -o -.html | head -c 10"
    done = subprocess.run(code, shell=True, capture_output=True, text=True, env={**os.environ, "PYTHONPATH": source})
    assert done.stdout == "<!DOCTYPE "
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(("colour", "pixel"), [("black", 0.0), ("white", 1.0)])
def test_a_colour_as_baseline_is_prepared_like_the_image(colour, pixel):
    steps = Preprocessing(mean=(0.2, 0.4, 0.6), std=(0.5, 0.25, 0.5))
    x, _ = steps(image.new("RGB", (2, 2), colour))
    found = baseline_of(colour, None, steps.axis, steps.plain)(x)
    np.testing.assert_array_equal(np.broadcast_to(found, x.shape).astype(np.float32), x)
    assert x[0, 0, 0] == np.float32((pixel - 0.2) / 0.5)


def test_a_colour_as_baseline_needs_an_image():
    with raises(InputError, "baseline-colour-without-image"):
        baseline_of("black", np.ones((3, 2)))
