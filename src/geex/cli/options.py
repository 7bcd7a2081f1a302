"""The options of commands, in groups that several commands share: dataclasses, one option for every field."""

import inspect
from collections.abc import Callable
from dataclasses import MISSING, dataclass, fields, is_dataclass
from typing import Annotated, Any, get_type_hints

from typer import Argument, Option

from geex.cli.methods import METHODS

Several = list[str] | None

ModelName = Annotated[
    str, Argument(metavar="MODEL", help="An ONNX file, an address (https://…), or package.module:callable.")
]
InputName = Annotated[
    str,
    Argument(metavar="INPUT", help="An image, an .npy file, a row of a .csv or .parquet file; - is standard input."),
]
Target = Annotated[str | None, Option("--target", "-t", help="Output to explain, by index or label. [the largest]")]
Labels = Annotated[str | None, Option(help="File with the names of the outputs, one on every line, or JSON.")]
Score = Annotated[
    str | None, Option(help="What is explained: answer, softmax (of logits), log_odds, margin, auto. [by the input]")
]
Queries = Annotated[
    int | None, Option("--queries", "-q", help="The most rows that the model is asked. [1000; with --method 5000]")
]
Method = Annotated[
    str | None,
    Option("--method", "-m", help=f"{', '.join(METHODS)}; settings in parentheses: 'GEEX(sigma=0.3)'. [by the input]"),
]
Methods = Annotated[list[str], Option("--method", "-m", help=f"Of {', '.join(METHODS)}; one or more.")]
Journal = Annotated[
    str | None, Option(help="Keep every answer in this file: a run that stops goes on with geex resume FILE.")
]
Stop = Annotated[
    str | None, Option(help="End when it is enough: 'Precise(tolerance=0.05)', 'Settled(overlap=0.9)'. [--queries]")
]
Price = Annotated[float | None, Option(help="What a query costs, for the forecast.")]
Output = Annotated[
    Several,
    Option(
        "--output", "-o", help="Write .html, .png, .svg, .pdf, .npz or .json; again for more. -.html: standard output."
    ),
]
Curve = Annotated[bool, Option("--curve", help="Some fifty more queries, for the deletion curve in the report.")]
AsJson = Annotated[bool, Option("--json", help="Tell the result as JSON.")]


@dataclass(frozen=True)
class Question:
    """What is asked about which model and input."""

    model: ModelName
    input: InputName
    target: Target = None
    labels: Labels = None
    baseline: Annotated[
        str | None,
        Option(
            help="What absence looks like: a number, r,g,b, blur:KERNEL,SIGMA, mean (of the table), or an .npy file. "
            "[tables: mean; photos: blur:31,5; else 0]"
        ),
    ] = None
    score: Score = None
    features: Annotated[str | None, Option(help="elements, pixels, or an .npy file of groups. [images: pixels]")] = None
    queries: Queries = None
    seed: Annotated[int, Option(help="Same seed, same queries.")] = 0
    batch: Annotated[int | None, Option(help="Rows per call of the model.")] = None
    quiet: Annotated[bool, Option("--quiet", help="No progress bar.")] = False


@dataclass(frozen=True)
class Wanted:
    """How the input is read."""

    row: Annotated[int, Option(help="Row of the table, from 0.")] = 0
    drop: Annotated[Several, Option(help="Column of the table that is no input, as the label; again for more.")] = None
    size: Annotated[str | None, Option(help="Pixels, such as 224 or 240x320. [the model's, or the image's]")] = None
    order: Annotated[str | None, Option(help="chw, hwc or hw. [the model's, or chw]")] = None
    grey: Annotated[bool, Option("--grey", help="One channel.")] = False
    scale: Annotated[float, Option(help="What a white pixel becomes, before --mean and --std: 1, or 255.")] = 1.0
    mean: Annotated[str | None, Option(help="Subtracted: one number, or r,g,b.")] = None
    std: Annotated[str | None, Option(help="Divided by: one number, or r,g,b.")] = None
    squeeze: Annotated[bool, Option("--squeeze", help="Squeeze the whole image in. [cut out its centre]")] = False


@dataclass(frozen=True)
class Access:
    """How the model is reached."""

    header: Annotated[Several, Option(help="'Name: value' or 'Name: env:VARIABLE'; again for more.")] = None
    protocol: Annotated[str | None, Option(help="v2 (Open Inference Protocol) or json.")] = None
    request: Annotated[str | None, Option(help='JSON with "{rows}" where the rows go, for --protocol json.')] = None
    response: Annotated[str | None, Option(help="Path to the scores, such as predictions.*.score.")] = None
    input_name: Annotated[str | None, Option(help="Which input of the graph or service takes the rows.")] = None
    output_name: Annotated[str | None, Option(help="Which output holds the scores.")] = None
    concurrency: Annotated[int | None, Option(help="Calls at a time. [services: 8]")] = None
    attempts: Annotated[int | None, Option(help="How often a failing call is made. [services: 8]")] = None
    rate: Annotated[float | None, Option(help="Most calls per second.")] = None


def gathered(function: Callable[..., Any]) -> Callable[..., Any]:
    """A command whose arguments are groups of options, as typer wants it: with an argument for every option."""
    own = inspect.signature(function, eval_str=True).parameters
    groups: dict[str, Any] = {name: p.annotation for name, p in own.items() if is_dataclass(p.annotation)}

    def command(**given: Any) -> Any:
        made = {name: kind(**{f.name: given.pop(f.name) for f in fields(kind)}) for name, kind in groups.items()}
        return function(**given, **made)

    parameters = []
    for name, parameter in own.items():
        parameters += _options(groups[name]) if name in groups else [parameter.replace(kind=KEYWORD)]
    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    command.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    command.__name__, command.__doc__ = function.__name__, function.__doc__
    return command


KEYWORD = inspect.Parameter.KEYWORD_ONLY


def _options(kind: Any) -> list[inspect.Parameter]:
    hints = get_type_hints(kind, include_extras=True)
    defaults = {f.name: inspect.Parameter.empty if f.default is MISSING else f.default for f in fields(kind)}
    return [inspect.Parameter(n, KEYWORD, default=default, annotation=hints[n]) for n, default in defaults.items()]
