"""The commands."""

import json
import os
import shlex
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

import geex
from geex._plain_text import harmless
from geex._results.explanation import Explanation
from geex.cli import consent, options, replay
from geex.cli.comparison import Comparand, comparand, comparison_table, figure
from geex.cli.models import model_of
from geex.cli.named_classes import method_of, stop_of
from geex.cli.options import ModelOptions, Preparation, Question, gathered
from geex.cli.output_files import PICTURES, check_not_read, is_stream, output_paths, write
from geex.cli.prepared import check_score, prepared
from geex.cli.results import json_of, text_of
from geex.cli.stored_explanations import check_journal, explanation_in, with_input
from geex.cli.table import command as table_command
from geex.errors import InputError, ModelError, RunError

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    help="Explain one decision of a model that can only be queried: a value for each feature, with its standard error.",
    epilog="Exit codes: 0 done, 1 the run failed, 2 wrong use. Put --debug anywhere for the traceback of an error.",
)


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"geex {geex.__version__}")
        raise typer.Exit


@app.callback()
def _main(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Print the traceback of an error.")] = False,
) -> None:
    pass


@app.command(epilog="Example: geex explain model.onnx cat.jpg --labels labels.txt --score softmax -o cat.html")
@gathered
def explain(
    context: typer.Context,
    question: Question,
    method: options.Method = None,
    stop: options.StopRule = None,
    journal: options.Journal = None,
    price: options.Price = None,
    most_cost: options.MostCost = None,
    output: options.Output = None,
    curve: options.Curve = False,
    as_json: options.AsJson = False,
    *,
    preparation: Preparation,
    model_options: ModelOptions,
) -> int:
    """Explain one decision of MODEL: which parts of INPUT contribute to it, and how much."""
    paths = output_paths(output or ())
    files = question.files()
    check_not_read(paths, [*files, *replay.files_of(journal)])
    if journal is not None:
        check_journal(journal)
        check_not_read(replay.files_of(journal), files, "--journal")
    chosen_method = None if method is None else method_of(method)
    rule = None if stop is None else stop_of(stop)
    run = prepared(question, preparation, model_options)
    if journal is not None:
        replay.store_command(journal, context.obj, question.model)
    try:
        explanation = run.explain(chosen_method, journal, rule, price, most_cost)
    except (ModelError, RunError) as error:
        if journal is not None:  # in place of the advice for Python
            error.__notes__ = [f"Continue with: geex resume {shlex.quote(journal)}"]
        raise
    names = (question.input, replay.harmless([question.model])[0])
    for path in paths:
        model = run.model if curve else None
        write(explanation, path, run.input.picture, model, replay.command_line(context.obj), names)
    _print_result(explanation, paths, as_json)
    if explanation.partial and journal is not None:
        print(f"geex: stopped. Continue with: geex resume {shlex.quote(journal)}", file=sys.stderr)
    return 1 if explanation.partial else 0


app.command(epilog="Example: geex table model.onnx data.csv --drop label --index id -o values.parquet")(
    table_command.table
)


def _print_result(explanation: Explanation, paths: list[Path], as_json: bool) -> None:
    """Print the result; on standard error if standard output carries a file."""
    streamed = any(is_stream(path.name) for path in paths)
    if as_json and not streamed:
        print(json.dumps(json_of(explanation, False), allow_nan=False))
        return
    files = [str(path) for path in paths if not is_stream(path.name)]
    lines = [text_of(explanation), *(f"wrote {file}" for file in files)]
    print(harmless("\n".join(lines)), file=sys.stderr if streamed else sys.stdout)


@app.command(epilog="Example: geex compare model.onnx cat.jpg -m geex -m regression -m rise -q 1000 -o cat.png")
@gathered
def compare(
    question: Question,
    method: options.Methods,
    output: options.Comparison = None,
    as_json: options.AsJson = False,
    *,
    preparation: Preparation,
    model_options: ModelOptions,
) -> None:
    """Explain one input by several methods. Prints a table of deletion and insertion, and draws a picture."""
    methods = {name: method_of(name) for name in method}
    paths = output_paths(output or (), (*PICTURES, ".json"))
    check_not_read(paths, question.files())
    run = prepared(question, preparation, model_options)
    found = [comparand(name, run.explain(one), run.model) for name, one in methods.items()]
    _print_comparison(found, paths, run.input.picture, as_json)


@app.command(epilog="Example: geex evaluate model.onnx cat.npz other.npz -o curves.png")
@gathered
def evaluate(
    model: options.ModelName,
    files: Annotated[
        list[str], typer.Argument(metavar="FILE…", help="Explanations that geex explain -o FILE.npz wrote.")
    ],
    score: Annotated[
        str | None,
        typer.Option(
            help="What the curves measure: answer, softmax (of logits) or margin. Default: the score of each "
            "explanation; for log-odds, the probability.",
            rich_help_panel=options.EXPLAINED,
        ),
    ] = None,
    baseline: Annotated[
        str | None,
        typer.Option(
            help="The value of removed features. Default: the baseline of each explanation.",
            rich_help_panel=options.EXPLAINED,
        ),
    ] = None,
    output: options.Comparison = None,
    as_json: options.AsJson = False,
    *,
    model_options: ModelOptions,
) -> None:
    """Test saved explanations on MODEL: the score while features are removed, or put back, by their values."""
    paths = output_paths(output or (), (*PICTURES, ".json"))
    check_not_read(paths, [*files, model, baseline])
    check_score(score)
    loaded = {name: Explanation.load(name) for name in files}
    opened = model_of(model, model_options)
    found = [comparand(Path(name).stem, one, opened, baseline, score) for name, one in loaded.items()]
    _print_comparison(found, paths, None, as_json, curves=True)


def _print_comparison(
    found: list[Comparand], paths: list[Path], picture: Any, as_json: bool, curves: bool = False
) -> None:
    facts = [one.facts() for one in found]
    for path in paths:
        if path.suffix == ".json":
            path.write_text(json.dumps(facts, allow_nan=False) + "\n", encoding="utf-8")
        else:
            figure(found, picture, curves).savefig(path, dpi=150)
    lines = [comparison_table(found), *(f"wrote {path}" for path in paths)]
    print(json.dumps(facts, allow_nan=False) if as_json else harmless("\n".join(lines)))


@app.command(epilog="Example: geex resume run.geex -o cat.html")
def resume(
    journal: Annotated[str, typer.Argument(metavar="JOURNAL", help="The file of geex explain --journal.")],
    queries: Annotated[
        int | None,
        typer.Option("--queries", "-q", min=1, help="The most rows that the model receives. Default: as before."),
    ] = None,
    output: options.Output = None,
    model: Annotated[
        str | None, typer.Option(help="The model, if it has moved or if its address holds a secret.")
    ] = None,
    header: Annotated[
        options.Several, typer.Option(help="A header of each request, as in geex explain. Repeat it for more.")
    ] = None,
    request: Annotated[
        str | None, typer.Option(help="The JSON of a request, as in geex explain, if it holds a secret.")
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", help="Print no progress bar.")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Run the stored command without asking.")] = False,
) -> int:
    """Continue a run that stopped, or give it more queries. Stored answers are not requested again.

    The stored command is printed first, and runs after a yes: it runs code, and sends data, as its author chose.
    """
    if not Path(journal).is_file():
        raise InputError(f"JOURNAL must be a file; there is none at {journal}.", code="journal-missing")
    check_journal(journal, "JOURNAL")
    outputs = [str(path.resolve()) if not is_stream(path.name) else path.name for path in output_paths(output or ())]
    replaced = {"--header": header or [], "--request": [] if request is None else [request]}
    arguments, folder = replay.arguments_to_resume(journal, replaced, model)
    stored = _stored_options(arguments)
    consent.check_folder(stored, model, folder, journal)
    if queries is not None and queries < (stored["queries"] or 0):
        raise InputError(
            f"--queries must be at least {stored['queries']}, the budget of the run so far; got {queries}.",
            code="budget-shrinks",
        )
    more = [] if queries is None else ["--queries", str(queries)]
    arguments += [*more, *(word for name in outputs if name not in arguments for word in ("--output", name))]
    if not yes:
        consent.ask(arguments, folder, journal)
    os.chdir(folder)
    now = [*arguments, *(["--quiet"] if quiet else [])]  # for this time only: not stored with the journal
    return int(app(now, prog_name="geex", standalone_mode=False, obj=arguments) or 0)


@app.command(epilog="Example: geex show cat.npz -o cat.html")
def show(
    file: Annotated[str, typer.Argument(metavar="FILE", help="A saved explanation (.npz) or a journal.")],
    target: Annotated[
        str | None,
        typer.Option(
            "--target",
            "-t",
            help="The output to show, an index or a label. A journal holds all outputs, a saved explanation one. "
            "Default: the output that was explained.",
            rich_help_panel=options.EXPLAINED,
        ),
    ] = None,
    labels: options.Labels = None,
    output: options.Output = None,
    as_json: options.AsJson = False,
) -> None:
    """Print a saved explanation, or the contents of a journal, and write it in another form. No query is sent."""
    paths = output_paths(output or ())
    begun = _options_of(file)
    check_not_read(paths, [*replay.files_of(file), labels, begun.get("input"), begun.get("labels")])
    explanation, picture = with_input(explanation_in(Path(file), target, labels or begun.get("labels")), begun)
    for path in paths:
        write(explanation, path, picture, None, None, (begun.get("input"), begun.get("model")))
    _print_result(explanation, paths, as_json)


def _options_of(journal: str) -> dict[str, Any]:
    """Return the options of the command that began a journal, with full paths of files that still exist; or {}."""
    arguments, folder, _ = replay.stored_command(journal) or ([], "", 0)
    if arguments[:1] != ["explain"]:
        return {}
    given = _stored_options(arguments)
    found = {name: Path(folder, given[name] or "") for name in ("input", "labels")}
    return {**given, **{name: str(path) if path.is_file() else None for name, path in found.items()}}


def _stored_options(arguments: list[str]) -> dict[str, Any]:
    """Return the options of a stored geex explain or geex table."""
    group: Any = typer.main.get_command(app)
    name = arguments[0]
    found: dict[str, Any] = group.commands[name].make_context(name, arguments[1:], resilient_parsing=True).params
    return found


@app.command(epilog="Example: geex demo -o boot.html")
def demo(
    output: Annotated[
        str, typer.Option("--output", "-o", help="The .html file of the report.", rich_help_panel=options.RESULT)
    ] = "geex-demo.html",
    photo: Annotated[
        bool, typer.Option("--photo", help="Explain a photo and EfficientNet-Lite0 instead of a garment.")
    ] = False,
    queries: Annotated[
        int | None,
        typer.Option("--queries", "-q", min=1, help="The most rows that the network receives. Default: 1000."),
    ] = None,
) -> None:
    """Explain a decision of the embedded network, and write the report."""
    from geex.demo import run

    (path,) = output_paths([output], (".html",))
    explanation, _ = run.photo(path, queries) if photo else run.garment(path, queries)
    _print_result(explanation, [path], False)
