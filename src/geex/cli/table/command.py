"""geex table: all rows of a table as one job."""

import json
import shlex
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from typer import Argument, Context, Option

import geex
from geex._problem.foreign_model import Carried
from geex._results.table.explanation import TableExplanation
from geex.cli import replay
from geex.cli.baselines import baseline_of
from geex.cli.input_readers.tables import table_in
from geex.cli.labels import labels_in, output_of
from geex.cli.models import chosen_limits, model_of
from geex.cli.named_classes import method_of
from geex.cli.options import (
    EXPLAINED,
    METHOD_PANEL,
    PREPARATION,
    RESULT,
    RUN,
    AsJson,
    Journal,
    Labels,
    Method,
    ModelName,
    ModelOptions,
    Price,
    Score,
    Several,
    Target,
    gathered,
)
from geex.cli.output_files import output_paths
from geex.cli.prepared import check_score
from geex.cli.stored_explanations import check_journal
from geex.errors import FileError, InputError, ModelError, RunError

# Suffixes of results.
TABLE_SUFFIXES = (".parquet", ".csv")


@dataclass(frozen=True)
class TableQuestion:
    """Which rows of which table are explained, and how."""

    model: ModelName
    file: Annotated[str, Argument(metavar="FILE", help="A .csv, .tsv or .parquet file; - reads standard input.")]
    target: Target = None
    labels: Labels = None
    baseline: Annotated[
        str | None,
        Option(
            help="What stands for absence, for all rows: a number, mean (of the table), background:ROWS (averages over "
            "rows of the table) or an .npy file. Default: mean.",
            rich_help_panel=EXPLAINED,
        ),
    ] = None
    score: Score = None
    queries: Annotated[
        int | None,
        Option(
            "--queries",
            "-q",
            min=1,
            help="The most queries for each row. Default: 4 for each column, at least 200.",
            rich_help_panel=METHOD_PANEL,
        ),
    ] = None
    seed: Annotated[int, Option(min=0, help="The seed of all random numbers.", rich_help_panel=RUN)] = 0
    batch: Annotated[
        int | None, Option(min=1, help="Rows of one call of the model. Default: up to 512.", rich_help_panel=RUN)
    ] = None
    quiet: Annotated[bool, Option("--quiet", help="Print no progress bar.", rich_help_panel=RUN)] = False
    drop: Annotated[
        Several,
        Option(
            help="A column of the table that is no input, such as the label. Repeat it for more.",
            rich_help_panel=PREPARATION,
        ),
    ] = None
    index: Annotated[
        str | None,
        Option(help="The column that names the rows in the result. It is no input.", rich_help_panel=PREPARATION),
    ] = None


TableOutput = Annotated[
    Several,
    Option("--output", "-o", help="Write a .parquet or .csv file. Repeat it for more.", rich_help_panel=RESULT),
]


def explained(
    question: TableQuestion, model_options: ModelOptions, method: str | None, journal: str | None, price: float | None
) -> TableExplanation:
    """Query the model and return the explanations of all rows."""
    check_score(question.score)
    chosen = None if method is None else method_of(method)
    model = model_of(question.model, model_options)
    labels = labels_in(Path(question.labels)) if question.labels is not None else Carried(model).labels
    labels = None if labels is None else [str(label) for label in labels]
    frame = _frame(question, model)
    rows = frame.to_numpy()
    complete = rows[np.isfinite(rows).all(axis=1)]
    baseline: Any = baseline_of("mean" if question.baseline is None else question.baseline, complete)
    return geex.explain_table(
        model,
        frame,
        baseline=baseline,
        target=output_of(question.target, labels),
        labels=labels,
        score=question.score,
        method=chosen,
        queries=question.queries,
        seed=question.seed,
        batch=question.batch,
        progress=not question.quiet,
        journal=journal,
        limits=chosen_limits(model_options, model),
        price=price,
    )


def check_outputs(paths: list[Path]) -> None:
    """Raise MissingPackage before the first query if a package for a result is missing."""
    if any(path.suffix.lower() == ".parquet" for path in paths):
        from geex._results.table.parquet_file import pyarrow_modules

        pyarrow_modules()


def write_table(table: TableExplanation, path: Path) -> None:
    """Write a result into its file."""
    (table.to_parquet if path.suffix.lower() == ".parquet" else table.to_csv)(path)


def json_of_table(table: TableExplanation) -> str:
    """Return the importance of the columns, and what failed, as JSON."""
    found = table.importance()
    numbers = (found.values, found.stderr, found.low, found.high)
    keys = ("column", "importance", "stderr", "low", "high")
    columns = [dict(zip(keys, one, strict=True)) for one in zip(found.columns, *map(_plain, numbers), strict=True)]
    failed = [{"row": one.number, "label": str(one.label), "message": one.message} for one in table.failed]
    queries = int(table.queries.sum()) + table.settings.baselines
    facts = {"rows": len(table), "queries": queries, "partial": table.partial, "failed": failed, "columns": columns}
    return json.dumps(facts, allow_nan=False)


def _plain(numbers: np.ndarray) -> list[float | None]:
    return [float(one) if np.isfinite(one) else None for one in numbers]


def _frame(question: TableQuestion, model: Any) -> Any:
    """Return the table as a data frame of numbers, with the labels of its rows."""
    from geex._results.table.importance import pandas

    name = question.file
    content = sys.stdin.buffer.read() if name == "-" else Path(name).read_bytes()
    title = "standard input" if name == "-" else name
    if not content:
        raise FileError(f"{title} must not be empty.", code="input-empty")
    drop = [*(question.drop or ()), *([] if question.index is None else [question.index])]
    rows, columns = table_in(content, title, drop, Carried(model).names)
    labels = None if question.index is None else column_in(content, title, question.index)
    index = pandas().RangeIndex(len(rows)) if labels is None else pandas().Index(labels, name=question.index)
    if len(rows) < 1:
        raise InputError(f"{title} must have a row.", code="table-empty")
    return pandas().DataFrame(rows, index=index, columns=columns)


def column_in(content: bytes, name: str, column: str) -> list[Any]:
    """Return the entries of one column of a file."""
    from geex.cli.input_readers.tables import columns_in

    found = columns_in(content, name)
    if column not in found:
        raise InputError(
            f"{name} must have a column {column!r}; it has {', '.join(map(repr, found))}.", code="column-missing"
        )
    return list(found[column])


@gathered
def table(
    context: Context,
    question: TableQuestion,
    method: Method = None,
    journal: Journal = None,
    price: Price = None,
    output: TableOutput = None,
    as_json: AsJson = False,
    *,
    model_options: ModelOptions,
) -> int:
    """Explain all rows of a table as one job, and print which columns matter over all rows."""
    paths = output_paths(output or (), TABLE_SUFFIXES)
    check_outputs(paths)
    if journal is not None:
        check_journal(journal)
        replay.store_command(journal, context.obj, question.model)
    try:
        found = explained(question, model_options, method, journal, price)
    except (ModelError, RunError) as error:
        if journal is not None:  # in place of the advice for Python
            error.__notes__ = [f"Continue with: geex resume {shlex.quote(journal)}"]
        raise
    for path in paths:
        write_table(found, path)
    print("\n".join([json_of_table(found)] if as_json else [str(found), *(f"wrote {path}" for path in paths)]))
    if found.partial and journal is not None:
        print(f"geex: stopped. Continue with: geex resume {shlex.quote(journal)}", file=sys.stderr)
    return 1 if found.partial else 0
