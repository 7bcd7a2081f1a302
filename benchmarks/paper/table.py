"""Table 1 from the results: numbers for JSON, and the same as Markdown."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.paper.cases import CaseSet
from benchmarks.paper.contenders import Contender, contenders
from benchmarks.paper.measure import Piece
from benchmarks.paper.reference import REPLACEMENTS, paper
from benchmarks.paper.results import Results
from geex.evaluate import paired, summary

FAR = 0.03
PAIRS = tuple((first, second) for first in ("geex-half", "geex") for second in ("ig", "rise", "lime"))


@dataclass(frozen=True, eq=False)
class Row:
    """One method's results on the cases of a set that are in: case name -> result."""

    contender: Contender
    results: dict[str, dict[str, Any]]

    def aopc(self, replacement: str) -> dict[str, float]:
        return {name: result["aopc"][replacement] for name, result in self.results.items()}

    def mean(self, which: str) -> float:
        return float(np.mean([result[which] for result in self.results.values()]))


def rows(home: CaseSet, results: Results) -> list[Row]:
    """The rows of a set's table that hold anything."""
    found = []
    for contender in contenders(home.setting):
        keys = {case.name: Piece(home, case, contender).keys[0] for case in home.cases}
        there = {name: results.known[known] for name, known in keys.items() if known in results.known}
        if there:
            found.append(Row(contender, there))
    return found


def numbers(home: CaseSet, results: Results) -> dict[str, Any]:
    """Return all numbers of one set's table."""
    table = rows(home, results)
    return {
        "data": home.data,
        "title": home.setting.title,
        "network": home.digest,
        "note": home.note,
        "images": len(home.cases),
        "settings": home.setting.common(),
        "computed on": _places(table),
        "methods": {row.contender.key: _method(home, row) for row in table},
        "paired": _paired(table),
        "order": {replacement: _order(home, table, replacement) for replacement in REPLACEMENTS},
    }


def _method(home: CaseSet, row: Row) -> dict[str, Any]:
    cells = {}
    for replacement in REPLACEMENTS:
        found = list(row.aopc(replacement).values())
        theirs = paper(home.setting.name, replacement, row.contender.column)
        ours = float(np.mean(found))
        cells[replacement] = {
            "ours": round(ours, 4),
            "stderr": round(summary(found).stderr, 4) if len(found) > 1 else None,
            "paper": theirs,
            "difference": None if theirs is None else round(ours - theirs, 4),
        }
    return {
        "title": row.contender.title,
        "paper's column": row.contender.column,
        "settings": row.contender.explain.facts(),
        "images": len(row.results),
        "queries": round(row.mean("queries")),
        "seconds": round(row.mean("seconds"), 3),
        **cells,
    }


def _paired(table: list[Row]) -> list[dict[str, Any]]:
    """Differences on the images that both methods have."""
    known = {row.contender.key: row for row in table}
    found = []
    for first, second in PAIRS:
        for replacement in REPLACEMENTS if first in known and second in known else ():
            a, b = known[first].aopc(replacement), known[second].aopc(replacement)
            common = [name for name in a if name in b]
            if len(common) < 2:
                continue
            difference = paired([a[name] for name in common], [b[name] for name in common])
            found.append(
                {
                    "difference": f"{known[first].contender.title} − {known[second].contender.title}",
                    "replacement": replacement,
                    "mean": round(difference.mean, 4),
                    "interval": [round(end, 4) for end in difference.interval],
                    "share": round(difference.share, 3),
                    "images": difference.count,
                }
            )
    return found


def _order(home: CaseSet, table: list[Row], replacement: str) -> dict[str, list[str]]:
    """The paper's methods from best to worst, in the paper and here."""
    rows_ = [row for row in table if row.contender.column]
    ours = sorted(rows_, key=lambda row: -np.mean(list(row.aopc(replacement).values())))
    columns = dict.fromkeys(str(row.contender.column) for row in rows_)
    theirs = [column for column in columns if paper(home.setting.name, replacement, column) is not None]
    theirs.sort(key=lambda column: -(paper(home.setting.name, replacement, column) or 0))
    return {"paper": theirs, "ours": [row.contender.title for row in ours]}


def _places(table: list[Row]) -> list[str]:
    places = {
        ", ".join(f"{name} {value}" for name, value in result["where"].items() if value is not None)
        for row in table
        for result in row.results.values()
    }
    return sorted(places)


def markdown(found: dict[str, Any]) -> str:
    """One set's table, paired differences and orders."""
    lines = [
        f"## {found['title']}",
        "",
        *([f"Network {found['note']}.", ""] if found["note"] else []),
        "| method | images | queries | seconds | baseline: ours | paper | Δ | Gaussian: ours | paper | Δ |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    lines += [_line(method) for method in found["methods"].values()]
    lines += ["", f"Δ is ours − paper, in bold where it is beyond ±{FAR}.", ""]
    if found["paired"]:
        lines += ["| paired difference | replacement | mean | 95% interval | first is better | images |"]
        lines += ["|---|---|---|---|---|---|"]
        lines += [
            f"| {p['difference']} | {p['replacement']} | {p['mean']:+.4f} | [{p['interval'][0]:+.4f}, "
            f"{p['interval'][1]:+.4f}] | {p['share']:.0%} | {p['images']} |"
            for p in found["paired"]
        ]
        lines += [""]
    for replacement, order in found["order"].items():
        lines += [f"- Order, {replacement}. Paper: {' > '.join(order['paper'])}. Ours: {' > '.join(order['ours'])}."]
    lines += ["", f"Settings: {_listed(found['settings'])}; network {found['network']}."]
    lines += [f"Computed on: {'; '.join(found['computed on'])}.", ""]
    lines += [f"- {m['title']}: {_listed(m['settings'])}" for m in found["methods"].values()]
    return "\n".join(lines) + "\n"


def _line(method: dict[str, Any]) -> str:
    cells = [method["title"], str(method["images"]), f"{method['queries']:,}", f"{method['seconds']:.2f}"]
    for replacement in REPLACEMENTS:
        cell = method[replacement]
        error = "" if cell["stderr"] is None else f" ± {cell['stderr']:.4f}"
        cells.append(f"{cell['ours']:.4f}{error}")
        cells.append("–" if cell["paper"] is None else f"{cell['paper']:.4f}")
        far = cell["difference"] is not None and abs(cell["difference"]) > FAR
        text = "–" if cell["difference"] is None else f"{cell['difference']:+.4f}"
        cells.append(f"**{text}**" if far else text)
    return f"| {' | '.join(cells)} |"


def _listed(settings: dict[str, Any]) -> str:
    return "; ".join(f"{name} {value}" for name, value in settings.items())
