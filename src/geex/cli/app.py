"""The commands. Each does one thing and tells what came of it."""

import json
import shlex
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

import geex
from geex._results.explanation import Explanation
from geex.cli import again, options
from geex.cli.job import ready, recognised
from geex.cli.methods import method as method_of
from geex.cli.methods import stop as stop_of
from geex.cli.models import opened
from geex.cli.naming import shown
from geex.cli.options import Access, Question, Wanted, gathered
from geex.cli.told import plain, summary
from geex.cli.trials import Trial, drawn, table, tried
from geex.cli.writing import PICTURES, checked, is_stream, write
from geex.errors import InputError

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
@gathered
def explain(
    context: typer.Context,
    asked: Question,
    method: options.Method = None,
    journal: options.Journal = None,
    stop: options.Stop = None,
    price: options.Price = None,
    output: options.Output = None,
    curve: options.Curve = False,
    as_json: options.AsJson = False,
    *,
    wanted: Wanted,
    access: Access,
) -> int:
    """Explain one decision of MODEL: what in INPUT carried it, and by how much."""
    paths = checked(output or ())
    how, enough = (None if method is None else method_of(method)), (None if stop is None else stop_of(stop))
    begun = ready(asked, wanted, access)
    if journal is not None:
        again.remember(journal, context.obj, asked.model)
    explanation = begun.explain(how, journal, enough, price)
    for path in paths:
        write(explanation, path, begun.subject.picture, begun.model if curve else None, again.told(context.obj))
    tell(explanation, begun.subject.picture, paths, as_json)
    if explanation.partial and journal is not None:
        print(f"geex: stopped; go on with: geex resume {shlex.quote(journal)}", file=sys.stderr)
    return 1 if explanation.partial else 0


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
@gathered
def compare(
    asked: Question,
    method: options.Methods,
    output: options.Output = None,
    as_json: options.AsJson = False,
    *,
    wanted: Wanted,
    access: Access,
) -> None:
    """Explain one input by several methods: a table of how good each is, and a picture."""
    methods = {name: method_of(name) for name in method}
    paths = checked(output or (), (*PICTURES, ".json"))
    begun = ready(asked, wanted, access)
    trials = [tried(name, begun.explain(one), begun.model) for name, one in methods.items()]
    _compared(trials, paths, begun.subject.picture, as_json)


@app.command(epilog="Example: geex evaluate model.onnx cat.npz other.npz -o curves.png")
@gathered
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
    *,
    access: Access,
) -> None:
    """Test saved explanations on MODEL: what the score does while features go, or come back, by their values."""
    paths = checked(output or (), (*PICTURES, ".json"))
    loaded = {name: Explanation.load(name) for name in files}
    opened_model = opened(model, access)
    trials = [tried(Path(name).stem, one, opened_model, baseline, score) for name, one in loaded.items()]
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
    queries: Annotated[
        int | None, typer.Option("--queries", "-q", help="The most rows that the model is asked. [as it was begun]")
    ] = None,
    output: options.Output = None,
    model: Annotated[
        str | None, typer.Option(help="The model, where it has moved or its address holds a secret.")
    ] = None,
    header: Annotated[options.Several, typer.Option(help="As in geex explain; again for more.")] = None,
    quiet: Annotated[bool, typer.Option("--quiet", help="No progress bar.")] = False,
) -> int:
    """Go on with a run that stopped, or give it more queries. What is answered is not asked again."""
    outputs = [str(path.resolve()) if not is_stream(path.name) else path.name for path in checked(output or ())]
    before = _began(journal).get("queries")
    if queries is not None and before is not None and queries < before:
        raise InputError(f"--queries is {queries} and {journal} was given {before} before; wanted no fewer.")
    arguments = again.recalled(journal, model, header or [])
    more = [] if queries is None else ["--queries", str(queries)]
    arguments += [*more, *(word for name in outputs if name not in arguments for word in ("--output", name))]
    now = [*arguments, *(["--quiet"] if quiet else [])]  # this time, and not kept with the journal
    return int(app(now, prog_name="geex", standalone_mode=False, obj=arguments) or 0)


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
    began = _began(file)
    explanation, picture = recognised(shown(Path(file), target, labels or began.get("labels")), began)
    for path in paths:
        write(explanation, path, picture, None, None)
    tell(explanation, picture, paths, as_json)


def _began(journal: str) -> dict[str, Any]:
    """The options of the command that began a journal, files that are still there by their full path; or none."""
    arguments, folder, _ = again.kept(journal) or ([], "", 0)
    if arguments[:1] != ["explain"]:
        return {}
    group: Any = typer.main.get_command(app)
    given = group.commands["explain"].make_context("explain", arguments[1:], resilient_parsing=True).params
    found = {name: Path(folder, given[name] or "") for name in ("input", "labels")}
    return {**given, **{name: str(path) if path.is_file() else None for name, path in found.items()}}


@app.command(epilog="Example: geex demo -o boot.html")
def demo(
    output: Annotated[str, typer.Option("--output", "-o", help="Where the report goes, .html.")] = "geex-demo.html",
    photo: Annotated[
        bool, typer.Option("--photo", help="A photo and EfficientNet-Lite0, in place of a garment.")
    ] = False,
    queries: Annotated[
        int | None,
        typer.Option("--queries", "-q", help="The most rows that the network is asked. [5000; with --photo 1000]"),
    ] = None,
) -> None:
    """Explain a decision of the embedded network, and write the report."""
    from geex.demo import run

    (path,) = checked([output], (".html",))
    explanation, picture = run.photo(path, queries) if photo else run.garment(path, queries)
    tell(explanation, picture, [path], False)
