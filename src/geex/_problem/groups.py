"""Groups of elements, and of columns by their names, as features."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from geex._arrays.arrays import Array, Shape, namespace
from geex._arrays.linear_algebra import segment_sum
from geex._problem.declared import Call, Unnamed, Value, declared
from geex._problem.features import label_map, spread
from geex._problem.table.one_hot import one_hot_sources
from geex._protocols import Features
from geex._stored_names import stored
from geex.errors import FeaturesError

# Names that a message lists.
FIRST_COLUMNS = 8


@stored("Groups/1")
@dataclass(frozen=True, eq=False, repr=False)
class Groups(Features):
    """Elements with the same label are one feature, or columns of a table that are listed under one name.

    Parameters
    ----------
    map
        Labels, whole numbers. The shape is that of x, or that of x without its channel axis. For a row with names: a
        dictionary {"name of the group": ["column", …], …}; a column that no group lists is a feature of its own.
    channels
        The channel axis of x, along which `map` is repeated. None: the first or the last axis, whichever fits.
    group_names
        The names of the groups, in the order of the labels. (): "group 0", "group 1", … for labels 0, 1, ….

    Attributes
    ----------
    labels
        The different labels in ascending order: the order of the values.

    Raises
    ------
    FeaturesError
        `map` holds neither whole numbers nor names of columns. When x is explained: it does not match x.

    Examples
    --------
    >>> import geex
    >>> geex.Groups([0, 0, 1, 1, 1]).names()
    ['group 0', 'group 1']
    >>> body = geex.Groups({"body": ["age", "bmi"]})
    >>> body.of_columns(["age", "sex", "bmi"]).names()
    ['body', 'sex']
    """

    map: Any
    channels: int | None = None
    group_names: tuple[str, ...] = ()
    labels: np.ndarray = field(init=False, repr=False)

    def __post_init__(self) -> None:
        by_name = isinstance(self.map, Mapping)
        map: Any = _listed(self.map) if by_name else label_map("the group map", self.map, FeaturesError)
        labels = np.array([], int) if by_name else np.unique(map)
        if self.group_names and len(self.group_names) != len(labels):
            raise FeaturesError(
                f"`group_names` must have one name for each of the {len(labels)} groups; got {len(self.group_names)}.",
                code="group-names-count",
            )
        object.__setattr__(self, "map", map)
        object.__setattr__(self, "group_names", tuple(self.group_names))
        object.__setattr__(self, "labels", labels)

    @classmethod
    def one_hot(cls, encoder: Any) -> "Groups":
        """Return the groups of columns that one-hot encoding makes: one for each column before the encoding.

        Parameters
        ----------
        encoder
            A fitted `OneHotEncoder`, a fitted `ColumnTransformer` with one in it, or a pipeline that starts with either
            of them. The row x that is explained is a row of its output.

        Returns
        -------
        Groups
            The groups. Columns of the output that no one-hot encoder makes are features of their own.

        Raises
        ------
        FeaturesError
            `encoder` is none of these, or not fitted.

        Examples
        --------
        >>> import geex
        >>> from sklearn.preprocessing import OneHotEncoder
        >>> encoder = OneHotEncoder().fit([["nurse", 1], ["miner", 2], ["clerk", 1]])
        >>> geex.Groups.one_hot(encoder).map.tolist()
        [0, 0, 0, 1, 1]
        """
        return cls._of_sources(one_hot_sources(encoder))

    @classmethod
    def by_prefix(cls, names: Sequence[str], prefixes: Sequence[str], separator: str = "_") -> "Groups":
        """Return groups of columns whose names start alike, such as those of `pandas.get_dummies`.

        Parameters
        ----------
        names
            The names of all columns, in the order of x.
        prefixes
            The names of the groups. A column belongs to the longest prefix that its name starts with, before the
            separator. All other columns are features of their own.
        separator
            What stands between the prefix and the rest of a name.

        Returns
        -------
        Groups
            The groups.

        Raises
        ------
        FeaturesError
            A prefix has no column.

        Examples
        --------
        >>> import geex
        >>> geex.Groups.by_prefix(["age", "job_nurse", "job_miner"], ["job"]).names()
        ['age', 'job']
        """
        known = sorted(prefixes, key=len, reverse=True)
        sources = [next((one for one in known if name.startswith(one + separator)), name) for name in names]
        if unused := [one for one in prefixes if one not in sources]:
            raise FeaturesError(
                f"`prefixes` must be the start of a column's name, before {separator!r}; none starts with "
                f"{unused[0] + separator!r}.",
                code="prefix-without-columns",
            )
        return cls._of_sources(sources)

    @classmethod
    def _of_sources(cls, sources: Sequence[str]) -> "Groups":
        """Return a group for each name, in the order of their first columns."""
        names = list(dict.fromkeys(sources))
        return cls(np.array([names.index(source) for source in sources]), group_names=tuple(names))

    def __repr__(self) -> str:
        along = "" if self.channels is None else f", channels={self.channels}"
        return f"Groups({self.declared_map}{along})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Groups) and self._compared == other._compared

    def __hash__(self) -> int:
        return hash(self._compared)

    @property
    def declared_map(self) -> Unnamed:
        """The map, by the number of its groups and a digest."""
        return Unnamed(f"<{len(self.labels)} groups, {self._digest[:16]}>", "map")

    @property
    def _compared(self) -> tuple[object, ...]:
        return self._digest, self.channels, self.group_names

    @cached_property
    def _digest(self) -> str:
        if isinstance(self.map, Mapping):
            return hashlib.sha256(repr(list(self.map.items())).encode()).hexdigest()
        return hashlib.sha256(f"{self.map.shape} {self.map.dtype}".encode() + self.map.tobytes()).hexdigest()

    def names(self) -> list[str]:
        return list(self.group_names) or [f"group {label}" for label in self.labels]

    def of_columns(self, names: Sequence[str] | None) -> "Groups":
        if not isinstance(self.map, Mapping) or names is None:
            return self
        group = {column: name for name, columns in self.map.items() for column in columns}
        if unknown := [column for column in group if column not in names]:
            first = ", ".join(map(repr, names[:FIRST_COLUMNS]))
            raise FeaturesError(
                f"Groups must list columns of x; {unknown[0]!r} is none. x has {first}"
                f"{', …' if len(names) > FIRST_COLUMNS else ''}.",
                code="group-of-unknown-column",
            )
        if taken := [name for name in self.map if name in names and group.get(name) != name]:
            raise FeaturesError(
                f"A group must have a name that no other feature has; {taken[0]!r} is a column too.",
                code="group-named-as-a-column",
            )
        return self._of_sources([group.get(name, name) for name in names])

    def check(self, shape: Shape) -> None:
        if isinstance(self.map, Mapping):
            raise FeaturesError(
                "Groups by names need the names of the columns, which x does not have.",
                code="groups-without-columns",
                fix="Pass x as a row of a data frame, or call groups.of_columns(names).",
            )
        self._spread(shape)

    def shape(self, shape: Shape) -> Shape:
        return (len(self.labels),)

    def total(self, weights: Array) -> Array:
        labels = self.index(tuple(weights.shape[1:])).ravel()
        order = np.argsort(labels, kind="stable")
        flat = namespace(weights).reshape(weights, (weights.shape[0], -1))
        return segment_sum(flat, order, np.bincount(labels, minlength=len(self.labels)))

    def index(self, shape: Shape) -> np.ndarray:
        return np.asarray(np.searchsorted(self.labels, self._spread(shape)))

    def _spread(self, shape: Shape) -> np.ndarray:
        """Return the map in the shape of the explicand."""
        shape = tuple(shape)
        return spread("the group map", self.map, shape, self.channels, FeaturesError)


def _listed(map: Mapping[Any, Any]) -> dict[str, tuple[Any, ...]]:
    """Return a mapping from groups to columns. Raise FeaturesError if a group is no list, or a column is in two."""
    found: dict[str, tuple[Any, ...]] = {}
    for name, columns in map.items():
        if isinstance(columns, str) or not isinstance(columns, Sequence) or not columns:
            raise FeaturesError(
                f"A group must be a list of columns; {name!r} has {columns!r}.", code="group-not-a-list"
            )
        found[str(name)] = tuple(columns)
    listed = [column for columns in found.values() for column in columns]
    if not listed or len(set(listed)) < len(listed):
        twice = next((column for column in listed if listed.count(column) > 1), None)
        raise FeaturesError(
            "Groups must list columns, and each of them once"
            + (f"; {twice!r} is listed twice." if listed else "; got no group."),
            code="group-columns-repeat" if listed else "groups-empty",
        )
    return found


@declared.register
def _(features: Groups) -> Value:
    along = () if features.channels is None else (("channels", features.channels),)
    return Call("Groups", "geex", (features.declared_map,), along)
