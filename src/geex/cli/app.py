"""The commands. Each reads its options into a `Job`, does one thing, and tells what came of it."""

import json
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

import geex
from geex.cli import again, options
from geex.cli.job import Job, how, ready
from geex.cli.methods import METHODS
from geex.cli.methods import method as method_of
from geex.cli.models import Access, opened
from geex.cli.naming import shown
from geex.cli.reading import Wanted
from geex.cli.told import plain, summary
from geex.cli.trials import Trial, drawn, table, tried
from geex.cli.writing import PICTURES, checked, is_stream, write
from geex.explanation import Explanation

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    help="Explains one decision of a model that can only be queried: every feature's share, with its standard error.",
    epilog="Exit codes: 0 done, 1 the run failed, 2 wrong use. --debug anywhere shows where an error comes from.",
)


def _version(wanted: bool) -> None:
    if wanted:
        print(f"geex {geex.__version__}")
        raise typer.Exit


@app.callback()
def _everywhere(
    version: Annotated[bool, typer.Option("--version", callback=_version, is_eager=True, help="Say which.")] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show where an error comes from.")] = False,
) -> None:
    pass


@app.command(epilog="Example: geex explain model.onnx cat.jpg --labels labels.txt --score softmax -o cat.html")
def explain(
    context: typer.Context,
    model: options.ModelName,
    input: options.InputName,
    target: options.Target = None,
    labels: options.Labels = None,
    baseline: options.Baseline = None,
    method: options.Method = None,
    score: options.Score = None,
    features: options.Features = None,
    queries: options.Queries = None,
    seed: options.Seed = 0,
    batch: options.Batch = None,
    journal: options.Journal = None,
    price: options.Price = None,
    output: options.Output = None,
    curve: options.Curve = False,
    as_json: options.AsJson = False,
    quiet: options.Quiet = False,
    row: options.Row = 0,
    drop: options.Drop = None,
    size: options.Size = None,
    order: options.Order = None,
    grey: options.Grey = False,
    scale: options.Scale = 1.0,
    mean: options.Mean = None,
    std: options.Std = None,
    squeeze: options.Squeeze = False,
    header: options.Header = None,
    protocol: options.Protocol = None,
    request: options.Request = None,
    response: options.Response = None,
    input_name: options.InputTensor = None,
    output_name: options.OutputTensor = None,
    concurrency: options.Concurrency = None,
    attempts: options.Attempts = None,
    rate: options.Rate = None,
) -> int:
    """Explain one decision of MODEL: what in INPUT carried it, and by how much."""
    access = Access(
        tuple(header or ()), protocol, request, response, input_name, output_name, concurrency, attempts, rate
    )
    wanted = Wanted(row, tuple(drop or ()), size, order, grey, scale, mean, std, squeeze)
    job = Job(
        model, input, access, wanted, target, labels, baseline, method, score, features, queries, seed, batch, journal,
        price, quiet,
    )  # fmt: skip
    paths = checked(output or ())
    begun = ready(job)
    method_ = how(job, begun.subject)
    if journal is not None:
        again.remember(journal, context.obj, model)
    explanation = begun.explain(method_)
    for path in paths:
        write(explanation, path, begun.subject.picture, begun.model if curve else None, again.told(context.obj))
    tell(explanation, begun.subject.picture, paths, as_json)
    return 1 if getattr(explanation, "partial", False) else 0


def tell(explanation: Explanation, picture: Any, paths: list[Path], as_json: bool) -> None:
    """The end of a run: on standard output, or on standard error where that carries a file."""
    streamed = any(is_stream(path.name) for path in paths)
    if as_json and not streamed:
        print(json.dumps(plain(explanation, False), allow_nan=False))
        return
    files = [str(path) for path in paths if not is_stream(path.name)]
    lines = [summary(explanation, picture), *(f"wrote {file}" for file in files)]
    print("\n".join(lines), file=sys.stderr if streamed else sys.stdout)


@app.command(epilog="Example: geex compare model.onnx cat.jpg -m geex -m regression -m rise -q 1000 -o cat.png")
def compare(
    model: options.ModelName,
    input: options.InputName,
    method: Annotated[list[str], typer.Option("--method", "-m", help=f"Of {', '.join(METHODS)}; two or more.")],
    target: options.Target = None,
    labels: options.Labels = None,
    baseline: options.Baseline = None,
    score: options.Score = None,
    features: options.Features = None,
    queries: options.Queries = None,
    seed: options.Seed = 0,
    batch: options.Batch = None,
    output: options.Output = None,
    as_json: options.AsJson = False,
    quiet: options.Quiet = False,
    row: options.Row = 0,
    drop: options.Drop = None,
    size: options.Size = None,
    order: options.Order = None,
    grey: options.Grey = False,
    scale: options.Scale = 1.0,
    mean: options.Mean = None,
    std: options.Std = None,
    squeeze: options.Squeeze = False,
    header: options.Header = None,
) -> None:
    """Explain one input by several methods: a table of how good each is, and a picture."""
    wanted = Wanted(row, tuple(drop or ()), size, order, grey, scale, mean, std, squeeze)
    access = Access(tuple(header or ()))
    job = Job(model, input, access, wanted, target, labels, baseline, None, score, features, queries, seed, batch,
              None, None, quiet)  # fmt: skip
    methods = {name: method_of(name) for name in method}
    paths = checked(output or (), (*PICTURES, ".json"))
    begun = ready(job)
    trials = [tried(name, begun.explain(one), begun.model) for name, one in methods.items()]
    _compared(trials, paths, begun.subject.picture, as_json)


@app.command(epilog="Example: geex evaluate model.onnx cat.npz other.npz -o curves.png")
def evaluate(
    model: options.ModelName,
    files: Annotated[
        list[str], typer.Argument(metavar="FILE…", help="Explanations, as geex explain -o FILE.npz wrote them.")
    ],
    score: options.Score = None,
    baseline: Annotated[
        str | None, typer.Option(help="What removed features become. [the baseline of each explanation]")
    ] = None,
    output: options.Output = None,
    as_json: options.AsJson = False,
    header: options.Header = None,
) -> None:
    """Test saved explanations on MODEL: what the score does while features go, or come back, by their values."""
    paths = checked(output or (), (*PICTURES, ".json"))
    loaded = {name: Explanation.load(name) for name in files}
    asked = opened(model, Access(tuple(header or ())))
    trials = [tried(Path(name).stem, one, asked, baseline, score) for name, one in loaded.items()]
    _compared(trials, paths, None, as_json, curves=True)


def _compared(trials: list[Trial], paths: list[Path], picture: Any, as_json: bool, curves: bool = False) -> None:
    facts = [trial.facts() for trial in trials]
    for path in paths:
        if path.suffix == ".json":
            path.write_text(json.dumps(facts, allow_nan=False) + "\n", encoding="utf-8")
        else:
            drawn(trials, picture, curves).savefig(path, dpi=150)
    print(json.dumps(facts, allow_nan=False) if as_json else "\n".join([table(trials), *(f"wrote {p}" for p in paths)]))


@app.command(epilog="Example: geex resume run.geex -o cat.html")
def resume(
    journal: Annotated[str, typer.Argument(metavar="JOURNAL", help="What geex explain --journal wrote.")],
    queries: options.Queries = None,
    output: options.Output = None,
    model: Annotated[
        str | None, typer.Option(help="The model, where it has moved or its address holds a secret.")
    ] = None,
    header: options.Header = None,
) -> int:
    """Go on with a run that stopped, or give it more queries. What is answered is not asked again."""
    outputs = [str(path.resolve()) if not is_stream(path.name) else path.name for path in checked(output or ())]
    arguments = again.recalled(journal, model, header or [])
    more = [] if queries is None else ["--queries", str(queries)]
    arguments += [*more, *(word for name in outputs for word in ("--output", name))]
    return int(app(arguments, prog_name="geex", standalone_mode=False, obj=arguments) or 0)


@app.command(epilog="Example: geex show cat.npz -o cat.html")
def show(
    file: Annotated[str, typer.Argument(metavar="FILE", help="An explanation (.npz), or a journal.")],
    target: options.Target = None,
    labels: options.Labels = None,
    output: options.Output = None,
    as_json: options.AsJson = False,
) -> None:
    """Show a saved explanation, or what a journal holds so far; write it in another form. No query is asked."""
    paths = checked(output or ())
    explanation = shown(Path(file), target, labels)
    for path in paths:
        write(explanation, path, None, None, None)
    tell(explanation, None, paths, as_json)


@app.command(epilog="Example: geex demo -o boot.html")
def demo(
    output: Annotated[str, typer.Option("--output", "-o", help="Where the report goes, .html.")] = "geex-demo.html",
    photo: Annotated[
        bool, typer.Option("--photo", help="A photo and EfficientNet-Lite0, in place of a garment.")
    ] = False,
    queries: options.Queries = None,
) -> None:
    """Explain a decision of the embedded network, and write the report."""
    from geex.demo import run

    (path,) = checked([output], (".html",))
    explanation, picture = run.photo(path, queries) if photo else run.garment(path, queries)
    tell(explanation, picture, [path], False)
