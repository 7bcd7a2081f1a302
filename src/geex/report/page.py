"""The page: a template and what it is filled with. All text from outside is escaped, wherever it goes."""

import base64
import hashlib
from collections.abc import Sequence
from html import escape
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import Any

import numpy as np

from geex._query.retrying_call import Model
from geex._results.explanation import Explanation
from geex.errors import AnswerError, InputError
from geex.evaluate import Curve, deletion
from geex.plot.view import Scene, scene
from geex.report import words
from geex.report.sections import Markup, data, drawn, ninths, outputs, stage, texts

OUTPUTS = 5
STEPS = 50
LISTED = 100  # features that a long list keeps for each output


def write(
    explanation: Explanation,
    path: Path,
    image: Any,
    model: Model | None,
    curves: Sequence[Curve],
    title: str | None,
    call: str | None,
) -> Path:
    """Writes the report; see `Explanation.report`."""
    path.write_text(page(explanation, image, model, curves, title, call), encoding="utf-8", newline="\n")
    return path


def page(
    explanation: Explanation,
    image: Any = None,
    model: Model | None = None,
    curves: Sequence[Curve] = (),
    title: str | None = None,
    call: str | None = None,
) -> str:
    """The report as text."""
    whole = scene(explanation, image, outputs=OUTPUTS)
    seen = whole if whole.index is not None else _shortened(whole)
    things = _things(seen)
    made = [*curves, *([] if model is None else _curve(explanation, model))]
    told = [texts(explanation, seen, output, things) for output in seen.outputs]
    script, style = _source("page.js"), _source("page.css")
    return _filled(
        "page.html",
        version=explanation.settings.version,
        title=title or f"Why “{seen.outputs[0].label}”?",
        style=Markup(style),
        style_hash=_hash(style),
        script=Markup(script),
        script_hash=_hash(script),
        lead=told[0]["lead"],
        account=told[0]["account"],
        sum=Markup("".join(f"<span>{escape(part)}</span>" for part in told[0]["sum"])),
        view_heading="Where the decision came from" if seen.index is not None else "What the decision came from",
        stage=stage(seen, told[0], len(whole.outputs[0].values)),
        things=things,
        outputs=outputs(seen.outputs),
        one_output=Markup(" hidden" if len(seen.outputs) < 2 else ""),
        no_picture=Markup(" hidden" if seen.index is None else ""),
        no_errors=Markup(" hidden" if all(np.isnan(output.stderr).all() for output in seen.outputs) else ""),
        ninths=ninths(explanation, seen, told[0]),
        curve=Markup("\n".join(drawn(curve, things, i) for i, curve in enumerate(made))),
        facts=Markup("".join(f"<dt>{escape(k)}</dt><dd>{escape(v)}</dd>" for k, v in words.facts(explanation))),
        estimand=f"{explanation.estimand} {explanation.advice()}",
        call=call or words.call(explanation),
        data=Markup(data(seen, told)),
    )


def _curve(explanation: Explanation, model: Model) -> list[Curve | str]:
    """The deletion curve, from some fifty queries, or why there is none."""
    record = explanation.record
    if not isinstance(explanation.target, int):
        raise InputError(
            f"model= asks for the deletion curve of one output, and {len(explanation.target)} are explained; "
            "geex.estimate(explanation, target=…) explains one of them, with no query."
        )
    if record is None:
        raise InputError(
            "model= asks for the deletion curve, and needs the explanation as geex.explain returned it; for a saved "
            "one make the curve by geex.evaluate.deletion and hand it over as curves=[curve]."
        )
    task = record.task
    step = max(1, -(-int(np.prod(explanation.values.shape)) // STEPS))
    try:
        return [deletion(model, task.explicand, explanation, replacement=task.baselines[0], step=step)]
    except AnswerError as error:
        return [f"There is no deletion curve: {error}"]


def _shortened(seen: Scene) -> Scene:
    """Of a long list only the largest features of every output."""
    size = len(seen.outputs[0].values)
    if size <= 2 * LISTED:
        return seen
    largest = [np.argsort(-np.abs(output.values), kind="stable")[:LISTED] for output in seen.outputs]
    return seen.only(np.unique(np.concatenate(largest)))


def _things(seen: Scene) -> str:
    """What features are called."""
    if seen.index is None:
        return "features"
    return "pixels" if len(np.unique(seen.index)) == seen.index.size else "regions"


def _filled(name: str, **content: Any) -> str:
    """The template with everything escaped that is not ours."""
    values = {key: value if isinstance(value, Markup) else escape(str(value)) for key, value in content.items()}
    return Template(_source(name)).substitute(values)


def _source(name: str) -> str:
    return files("geex.report").joinpath(name).read_text(encoding="utf-8")


def _hash(text: str) -> Markup:
    """By this the browser knows the page's own script and style, and runs no other."""
    return Markup("sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode())
