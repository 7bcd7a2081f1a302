"""What values estimate, in words: the one place that has them."""

from geex._problem.estimand import Additive, Estimand, Mixed, Note, Quantity

GAME = "of the game in which a feature that is absent has its baseline value"
WORTH = "What showing a feature is worth on average over"
ALONE = f"{WORTH} smooth random masks, its neighbours showing with it:"

QUANTITIES = {
    Quantity.PATH_INTEGRAL: "(x − x̊) times the path integral from the baseline to x of the gradient of {model}.",
    Quantity.RIEMANN_SUM: (
        "(x − x̊) times the right Riemann sum, in {steps} steps from the baseline to x, of the gradient of {model}."
    ),
    Quantity.GRADIENT: "The gradient at x of {model}.",
    Quantity.SHAPLEY: f"Shapley values {GAME}.",
    Quantity.BANZHAF: (f"Banzhaf values {GAME}: what showing it is worth on average over all subsets of the others."),
    Quantity.WEIGHTED_PRESENCE: (
        f"{WORTH} subsets that hold every other feature with probability {{share:.3g}} or {{other:.3g}}."
    ),
    Quantity.SMOOTH_PRESENCE: f"{ALONE} an estimand of its own.",
    Quantity.GUIDED_PRESENCE: (
        f"{ALONE} coarse masks over everything, and finer ones where it matters most, with all else showing. An "
        "estimand of its own, by regression."
    ),
    Quantity.EXPECTED_SCORE: "E[f(z) m]/E[m], the expected score of a randomly masked x where the pixel shows.",
    Quantity.SEGMENT_WEIGHT: (
        "The coefficient of a feature's segment, of {segments}, in a linear model of the score over segments that are "
        "present or absent, fitted the more closely the more of x is present and shrunk by the ridge, the less the "
        "more was asked."
    ),
    Quantity.NONE: "Nothing: uniform random numbers, which say nothing about the model and do not add up.",
    Quantity.OWN: "",
}
ADDITIVE = {
    Additive.EXACTLY: "They add up to f(x) − f(x̊) exactly.",
    Additive.WITHIN_ERROR: "They add up to f(x) − f(x̊): the gap is noise.",
    Additive.OF_BLURRED_MODEL: "They add up to J(x) − J(x̊): the gap to f(x) − f(x̊) is that blur and the noise.",
    Additive.NO: "The values do not add up.",
}
NOT_ADDITIVE = {
    Quantity.GRADIENT: "Slopes do not add up to f(x) − f(x̊).",
    Quantity.BANZHAF: "They do not add up to f(x) − f(x̊).",
    Quantity.EXPECTED_SCORE: (
        "These are levels of the score, not shares of it: they do not add up to f(x) − f(x̊), and a pixel that does "
        "nothing is not at 0."
    ),
    Quantity.SEGMENT_WEIGHT: "A pixel's value is its region's weight: values per pixel do not add up.",
    Quantity.NONE: "",
}
OWN_ADDITIVE = {**ADDITIVE, Additive.WITHIN_ERROR: "They add up to f(x) − f(x̊), within their errors."}
MADE_COMPLETE = "Made to add up to f(x) − f(x̊) exactly, by conditioning on it."
RIEMANN_ERROR = "The sum's own error is of the order 1/steps."
CLIPPED = "Queries are clipped to the bounds, which makes the model another one near them."
NOTES = {
    Note.EXACT: "They are exact: every subset was asked.",
    Note.EXACT_IF_STEADY: "They are exact, if the model answers the same each time: every subset was asked.",
    Note.MODEL_NOISE_ONLY: (
        "Every subset was asked; errors are those of the model's own noise, a rough guess from two answers to x."
    ),
    Note.POSTERIOR_OR_LEFT_OUT: (
        "Standard errors are those of the posterior or of leaving out draws, whichever is larger."
    ),
    Note.SECOND_HALF: "They are no less than what the second half of the queries changed.",
    Note.PRIOR_OPEN: "They take in what the choice of the prior leaves open.",
    Note.OTHER_ROUNDS: (
        "They do not know that other answers would have led elsewhere, nor what every run smooths away."
    ),
    Note.UNBIASED: "Intervals are around unbiased values, and hold whatever was smoothed away.",
    Note.FIT_OR_LEFT_OUT: (
        "Standard errors are those of leaving out draws or of the fit, whichever is larger; intervals are around "
        "unbiased values."
    ),
}


def estimand_text(estimand: Estimand) -> str:
    """Return what the values estimate, and whether they add up, in sentences."""
    riemann = estimand.quantity is Quantity.RIEMANN_SUM
    sentences = [
        _quantity(estimand),
        _mixed(estimand),
        _additive(estimand),
        RIEMANN_ERROR if riemann else "",
        MADE_COMPLETE if estimand.complete else "",
        CLIPPED if estimand.clipped else "",
        f"Averaged over {estimand.baselines} baselines." if estimand.baselines > 1 else "",
        *(NOTES[note] for note in estimand.notes),
    ]
    text = " ".join(sentence for sentence in sentences if sentence)
    told = estimand.quantity is Quantity.GUIDED_PRESENCE
    return f"By regression: {text}" if estimand.regression and not told else text


def _quantity(estimand: Estimand) -> str:
    share = estimand.share or 0.0
    found = QUANTITIES[estimand.quantity].format(
        model=_model(estimand), steps=estimand.steps, segments=estimand.segments, share=share, other=1 - share
    )
    return " ".join(part for part in (found, estimand.text) if part)


def _model(estimand: Estimand) -> str:
    """The model that the gradient is of."""
    if estimand.blurred is None:
        return "the model"
    family, sigma, differing = estimand.blurred.family, estimand.blurred.sigma, estimand.blurred.differing
    where = " in the elements that differ from the baseline" if differing else ""
    return f"J, the model averaged over {family} noise of deviation {sigma:.4g}{where}"


def _mixed(estimand: Estimand) -> str:
    if estimand.mixed is Mixed.NEIGHBOURS:
        return "The noise is smoothed, so gradients are mixed over neighbours."
    if estimand.mixed is Mixed.AXIS:
        return f"Noise is shared along axis {estimand.axis}, so gradients are summed along it."
    return ""


def _additive(estimand: Estimand) -> str:
    if estimand.complete:
        return ""
    if estimand.additive is Additive.NO:
        return NOT_ADDITIVE.get(estimand.quantity, ADDITIVE[Additive.NO])
    return (OWN_ADDITIVE if estimand.quantity is Quantity.OWN else ADDITIVE)[estimand.additive]
