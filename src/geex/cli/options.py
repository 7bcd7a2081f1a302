"""The options of commands, in groups that several commands share: dataclasses with a field for each option."""

import inspect
from collections.abc import Callable
from dataclasses import MISSING, dataclass, fields, is_dataclass
from typing import Annotated, Any, get_type_hints

from typer import Argument, Option

from geex.cli.named_classes import METHODS, STOPS

# Panels of the help page.
EXPLAINED, METHOD_PANEL, RUN, RESULT = "What is explained", "Method and budget", "Run", "Results"
PREPARATION, CONNECTION = "Preparation of INPUT", "Connection to MODEL"

Several = list[str] | None

ModelName = Annotated[
    str, Argument(metavar="MODEL", help="An ONNX file, an address (https://…) or package.module:name.")
]
InputName = Annotated[
    str,
    Argument(metavar="INPUT", help="An image, an .npy file, or a .csv, .tsv or .parquet file; - reads standard input."),
]
Target = Annotated[
    str | None,
    Option(
        "--target",
        "-t",
        help="The output to explain, an index or a label. Default: the largest.",
        rich_help_panel=EXPLAINED,
    ),
]
Labels = Annotated[
    str | None,
    Option(help="A file with the names of the outputs: one on each line, or JSON.", rich_help_panel=EXPLAINED),
]
Score = Annotated[
    str | None,
    Option(
        help="What is explained of the answer: answer, softmax (of logits), log_odds, margin or auto. "
        "Default: auto for images without --method, else answer.",
        rich_help_panel=EXPLAINED,
    ),
]
Queries = Annotated[
    int | None,
    Option(
        "--queries",
        "-q",
        min=1,
        help="The most rows that the model receives. Default: 1000, or 5000 with --method.",
        rich_help_panel=METHOD_PANEL,
    ),
]
Method = Annotated[
    str | None,
    Option(
        "--method",
        "-m",
        help=f"One of {', '.join(METHODS)}; with settings 'GEEX(sigma=0.3)'; or a class of yours, "
        "'module:Class(setting=1)'. Default: guided for images, else shapley.",
        rich_help_panel=METHOD_PANEL,
    ),
]
Methods = Annotated[
    list[str],
    Option(
        "--method",
        "-m",
        help=f"One of {', '.join(METHODS)}; with settings 'GEEX(sigma=0.3)'; or a class of yours, "
        "'module:Class(setting=1)'. Repeat it for each method.",
        rich_help_panel=METHOD_PANEL,
    ),
]
Journal = Annotated[
    str | None,
    Option(
        help="Store every answer in this file. A run that stopped continues with geex resume FILE.", rich_help_panel=RUN
    ),
]
StopRule = Annotated[
    str | None,
    Option(
        help=f"Stop before the budget: {' or '.join(STOPS)}, with settings 'Precise(tolerance=0.05)' or "
        "'Settled(overlap=0.9)'; or a class of yours. Default: never.",
        rich_help_panel=METHOD_PANEL,
    ),
]
Price = Annotated[
    float | None, Option(min=0, help="The price of a query, for the cost that is printed first.", rich_help_panel=RUN)
]
MostCost = Annotated[
    float | None,
    Option(
        min=0,
        help="The most that the run may cost at --price, failed attempts included. Default: no limit.",
        rich_help_panel=RUN,
    ),
]
Output = Annotated[
    Several,
    Option(
        "--output",
        "-o",
        help="Write a .html, .png, .svg, .pdf, .npz or .json file. Repeat it for more. -.html writes to standard "
        "output.",
        rich_help_panel=RESULT,
    ),
]
Comparison = Annotated[
    Several,
    Option(
        "--output",
        "-o",
        help="Write a .png, .svg, .pdf or .json file. Repeat it for more.",
        rich_help_panel=RESULT,
    ),
]
Curve = Annotated[
    bool,
    Option("--curve", help="Add a deletion curve to the report, for about 50 more queries.", rich_help_panel=RESULT),
]
AsJson = Annotated[bool, Option("--json", help="Print the result as JSON.", rich_help_panel=RESULT)]


@dataclass(frozen=True)
class Question:
    """Which decision of which model is explained, and how."""

    model: ModelName
    input: InputName
    target: Target = None
    labels: Labels = None
    baseline: Annotated[
        str | None,
        Option(
            help="What stands for absence: a number or r,g,b in the units of the model, black or white (of an image), "
            "blur:KERNEL,SIGMA, mean (of the table), background:ROWS (averages over rows of it) or an .npy file. "
            "Default: mean for tables, blur:31,5 for photos, else 0.",
            rich_help_panel=EXPLAINED,
        ),
    ] = None
    score: Score = None
    features: Annotated[
        str | None,
        Option(
            help="elements, pixels, or an .npy file with a group number for each pixel or column. Default: pixels for "
            "images, else elements.",
            rich_help_panel=EXPLAINED,
        ),
    ] = None
    queries: Queries = None
    seed: Annotated[int, Option(min=0, help="The same seed gives the same queries.", rich_help_panel=METHOD_PANEL)] = 0
    batch: Annotated[int | None, Option(min=1, help="Rows per call of the model.", rich_help_panel=RUN)] = None
    quiet: Annotated[bool, Option("--quiet", help="Print no progress bar.", rich_help_panel=RUN)] = False

    def files(self) -> list[str | None]:
        """Return the names that may be files, which no result may overwrite."""
        return [self.model, self.input, self.labels, self.baseline, self.features]


@dataclass(frozen=True)
class Preparation:
    """How the input is read."""

    row: Annotated[int, Option(help="The row of the table, from 0; -1 is the last.", rich_help_panel=PREPARATION)] = 0
    drop: Annotated[
        Several,
        Option(
            help="A column of the table that is no input, such as the label. Repeat it for more.",
            rich_help_panel=PREPARATION,
        ),
    ] = None
    size: Annotated[
        str | None,
        Option(
            help="Pixels, such as 224 or 240x320 (height x width). Default: those of the model, else of the image.",
            rich_help_panel=PREPARATION,
        ),
    ] = None
    order: Annotated[
        str | None,
        Option(
            help="The axes of an image: chw, hwc or hw. Default: those of the model, else chw.",
            rich_help_panel=PREPARATION,
        ),
    ] = None
    grey: Annotated[bool, Option("--grey", help="Convert an image to one channel.", rich_help_panel=PREPARATION)] = (
        False
    )
    scale: Annotated[
        float, Option(help="The value of a white pixel, before --mean and --std.", rich_help_panel=PREPARATION)
    ] = 1.0
    mean: Annotated[
        str | None, Option(help="Subtract this number, or r,g,b, from each pixel.", rich_help_panel=PREPARATION)
    ] = None
    std: Annotated[
        str | None, Option(help="Divide each pixel by this number, or r,g,b.", rich_help_panel=PREPARATION)
    ] = None
    squeeze: Annotated[
        bool,
        Option(
            "--squeeze",
            help="Resize the whole image without keeping its proportions. Default: cut out the centre.",
            rich_help_panel=PREPARATION,
        ),
    ] = False


@dataclass(frozen=True)
class ModelOptions:
    """How the model is called."""

    header: Annotated[
        Several,
        Option(
            help="A header of each request, 'Name: value' or 'Name: env:VARIABLE'. Repeat it for more.",
            rich_help_panel=CONNECTION,
        ),
    ] = None
    protocol: Annotated[
        str | None,
        Option(
            help="v2 (Open Inference Protocol) or json. Default: json with --request or --response, else v2.",
            rich_help_panel=CONNECTION,
        ),
    ] = None
    request: Annotated[
        str | None,
        Option(
            help='The JSON of a request, with "{rows}" in place of the rows, and "env:VARIABLE" in place of a token.',
            rich_help_panel=CONNECTION,
        ),
    ] = None
    response: Annotated[
        str | None,
        Option(help="The path to the scores in an answer, such as predictions.*.score.", rich_help_panel=CONNECTION),
    ] = None
    input_name: Annotated[
        str | None,
        Option(help="The input of the graph or service that receives the rows.", rich_help_panel=CONNECTION),
    ] = None
    output_name: Annotated[
        str | None, Option(help="The output of the graph or service that holds the scores.", rich_help_panel=CONNECTION)
    ] = None
    concurrency: Annotated[
        int | None,
        Option(min=1, help="Calls at the same time. Default: 8 for services, else 1.", rich_help_panel=CONNECTION),
    ] = None
    attempts: Annotated[
        int | None,
        Option(
            min=1,
            help="Attempts before a failing call ends the run. Default: 8 for services, else 1.",
            rich_help_panel=CONNECTION,
        ),
    ] = None
    rate: Annotated[float | None, Option(help="The most calls per second.", rich_help_panel=CONNECTION)] = None
    most_sent: Annotated[
        int | None,
        Option(
            min=1,
            help="The most rows that are sent, those of failed attempts included. Default: no limit.",
            rich_help_panel=CONNECTION,
        ),
    ] = None
    idempotency_key: Annotated[
        str | None,
        Option(
            help="A header that gets one key for each request, the same for all attempts, such as Idempotency-Key.",
            rich_help_panel=CONNECTION,
        ),
    ] = None


def gathered(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a command for typer, with a parameter for each option of its groups.

    The function itself has one parameter for each group, annotated with the dataclass.
    """
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


# typer passes every parameter by name
KEYWORD = inspect.Parameter.KEYWORD_ONLY


def _options(kind: Any) -> list[inspect.Parameter]:
    hints = get_type_hints(kind, include_extras=True)
    defaults = {f.name: inspect.Parameter.empty if f.default is MISSING else f.default for f in fields(kind)}
    return [inspect.Parameter(n, KEYWORD, default=default, annotation=hints[n]) for n, default in defaults.items()]
