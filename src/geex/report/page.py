"""The page: a template and what it is filled with. All text from outside is escaped, wherever it goes."""

import base64
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from html import escape
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import Any

import numpy as np

from geex._plain_text import harmless
from geex._problem.model_identity import identity
from geex._query.retrying_call import Model
from geex._results.certainty import is_only_output
from geex._results.explanation import Explanation
from geex.errors import AnswerError, InputError
from geex.evaluate import Curve, deletion
from geex.plot.view import Scene, scene
from geex.report import words
from geex.report.region import largest
from geex.report.replay import call
from geex.report.sections import Markup, data, drawn, ninths, outputs, stage, style, texts

# The most outputs of a page.
PAGE_OUTPUTS = 5
# Steps of the deletion curve, and so queries.
CURVE_STEPS = 50
PAGE_FEATURES = 100  # features that a long list keeps for each output


@dataclass(frozen=True, eq=False)
class Extras:
    """What a report shows besides the explanation; see `Explanation.report`."""

    image: Any = None
    model: Model | None = None
    curves: Sequence[Curve] = ()
    title: str | None = None
    call: str | None = None
    input_name: str | None = None
    model_name: str | None = None


def write(explanation: Explanation, path: Path, extras: Extras) -> Path:
    """Write the report; see `Explanation.report`."""
    path.write_text(page(explanation, extras), encoding="utf-8", newline="\n")
    return path


def page(explanation: Explanation, extras: Extras | None = None) -> str:
    """Return the report as text."""
    extras = extras or Extras()
    whole = scene(explanation, extras.image, outputs=PAGE_OUTPUTS)
    seen = whole if whole.index is not None else _shortened(whole)
    things, numbers, about = _things(seen), style(seen), _about(extras)
    made = [*extras.curves, *([] if extras.model is None else _curve(explanation, extras.model))]
    regions = largest(whole)
    sentences = [
        texts(explanation, whole, output, found, things) for output, found in zip(whole.outputs, regions, strict=True)
    ]
    first, label = sentences[0], seen.outputs[0].label
    script, sheet = _source("page.js"), _source("page.css")
    return harmless(
        _filled(
            "page.html",
            version=explanation.settings.version,
            title=extras.title or ("Why this score?" if is_only_output(explanation, label) else f"Why “{label}”?"),
            style=Markup(sheet),
            style_hash=_hash(sheet),
            script=Markup(script),
            script_hash=_hash(script),
            lead=first["lead"],
            about=" · ".join(value for name, value in about.items() if "identity" not in name),
            account=first["account"],
            sum=Markup("".join(f"<span>{escape(part)}</span>" for part in first["sum"])),
            view_heading="The input and its explanation" if seen.index is not None else "The features that decided",
            view_kind="pictures" if seen.index is not None else "listed",
            stage=stage(seen, first, len(whole.outputs[0].values), numbers),
            things=things,
            outputs=outputs(seen.outputs),
            one_output=Markup(" hidden" if len(seen.outputs) < 2 else ""),
            no_picture=Markup(" hidden" if seen.index is None else ""),
            no_region=Markup(" hidden" if seen.index is None or not any(one["outline"] for one in sentences) else ""),
            no_errors=Markup(" hidden" if all(np.isnan(output.stderr).all() for output in seen.outputs) else ""),
            ninths=ninths(explanation, seen, first),
            curve=Markup("\n".join(drawn(curve, things, i) for i, curve in enumerate(made))),
            facts=Markup(
                "".join(f"<dt>{escape(k)}</dt><dd>{escape(v)}</dd>" for k, v in words.facts(explanation, about))
            ),
            estimand=f"{explanation.estimand} {explanation.advice()} {words.SELECTED if any(regions) else ''}".strip(),
            call=extras.call or call(explanation),
            data=Markup(data(seen, sentences, numbers)),
        )
    )


def _about(extras: Extras) -> dict[str, str]:
    """The input, the model and the date, as far as they are known."""
    known = "" if extras.model is None else identity(extras.model)
    about = {
        "Input": extras.input_name,
        "Model": extras.model_name,
        "Model’s identity": known[:16],
        "Report of": date.today().isoformat(),
    }
    return {name: value for name, value in about.items() if value}


def _curve(explanation: Explanation, model: Model) -> list[Curve | str]:
    """The deletion curve, from some fifty queries, or why there is none."""
    record = explanation.record
    if not isinstance(explanation.target, int):
        raise InputError(
            f"The deletion curve that `model` makes is of one output; {len(explanation.target)} are explained. "
            "Choose one with geex.estimate(explanation, target=…), which needs no query.",
            code="curve-of-several-outputs",
        )
    if record is None:
        raise InputError(
            "The deletion curve that `model` makes needs the answers; a saved explanation has none. "
            "Make the curve with geex.evaluate.deletion and pass it as curves=[curve].",
            code="answers-missing",
        )
    task = record.task
    step = max(1, -(-int(np.prod(explanation.values.shape)) // CURVE_STEPS))
    try:
        return [deletion(model, task.explicand, explanation, replacement=task.baselines[0], step=step)]
    except AnswerError as error:
        return [f"There is no deletion curve: {error}"]


def _shortened(seen: Scene) -> Scene:
    """Of a long list only the first features of every output."""
    size = len(seen.outputs[0].values)
    if size <= 2 * PAGE_FEATURES:
        return seen
    return seen.only(np.unique(np.concatenate([output.order(PAGE_FEATURES) for output in seen.outputs])))


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
