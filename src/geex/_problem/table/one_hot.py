"""Which column each output of a one-hot encoder of scikit-learn comes from."""

from typing import Any

from geex.errors import FeaturesError


def one_hot_sources(encoder: Any) -> list[str]:
    """Return the name of the source of each output column; a column that is not encoded is its own source.

    Raises
    ------
    FeaturesError
        `encoder` is no fitted encoder, column transformer or pipeline that starts with one.
    """
    steps = getattr(encoder, "steps", None)
    if steps:
        encoder = steps[0][1]
    if not hasattr(encoder, "get_feature_names_out") or not _is_fitted(encoder):
        raise FeaturesError(
            f"`encoder` must be a fitted OneHotEncoder, a ColumnTransformer with one, or a pipeline that starts with "
            f"one; got a {type(encoder).__name__}.",
            code="encoder-unknown",
            fix="geex.Groups.by_prefix groups columns by the start of their names.",
        )
    names = [str(name) for name in encoder.get_feature_names_out()]
    if hasattr(encoder, "categories_"):
        return _checked(_encoded(encoder), names)
    sources = names
    for name, part, _ in encoder.transformers_:
        last = part.steps[-1][1] if hasattr(part, "steps") else part
        if hasattr(last, "categories_") and hasattr(last, "drop_idx_"):
            place = encoder.output_indices_[name]
            given = part.feature_names_in_ if hasattr(part, "feature_names_in_") else None
            sources[place] = _checked(_encoded(last, given), names[place])
    return sources


def _is_fitted(encoder: Any) -> bool:
    alone = hasattr(encoder, "categories_") and hasattr(encoder, "drop_idx_")
    return alone or (hasattr(encoder, "transformers_") and hasattr(encoder, "output_indices_"))


def _encoded(encoder: Any, names: Any = None) -> list[str]:
    """Return the source of each output of a OneHotEncoder."""
    if names is None or len(names) != len(encoder.categories_):
        names = getattr(encoder, "feature_names_in_", [f"x{place}" for place in range(len(encoder.categories_))])
    return [str(name) for place, name in enumerate(names) for _ in range(_outputs(encoder, place))]


def _outputs(encoder: Any, place: int) -> int:
    """Return how many outputs the column of this number has: its categories, rare ones as one."""
    count = len(encoder.categories_[place])
    rare = getattr(encoder, "infrequent_categories_", None)
    if rare is not None and rare[place] is not None:
        count -= len(rare[place]) - 1
    dropped = encoder.drop_idx_ is not None and encoder.drop_idx_[place] is not None
    return count - dropped


def _checked(sources: list[str], names: list[str]) -> list[str]:
    if len(sources) != len(names):
        raise FeaturesError(
            f"The encoder has {len(names)} outputs, and {len(sources)} from its categories.",
            code="encoder-outputs",
            fix="geex.Groups.by_prefix groups columns by the start of their names.",
        )
    return sources
