"""Slow twins: every estimator again, as loops in the paper's symbols, and closed forms of what they estimate."""

import numpy as np
from scipy import integrate, stats

UNIT = {  # densities of deviation 1, as scipy knows them
    "Gaussian": stats.norm(),
    "Laplace": stats.laplace(scale=1 / np.sqrt(2)),
    "Logistic": stats.logistic(scale=np.sqrt(3) / np.pi),
}


def draws(plan, count):
    """(α, ε) of the first `count` draws of a plan, one by one."""
    for chunk in plan.chunks(count):
        alphas, noises = np.asarray(chunk.draws.alpha), np.asarray(chunk.draws.noise)
        for alpha, unit in zip(alphas, noises, strict=True):
            yield float(alpha), plan.search.sigma * np.broadcast_to(unit, plan.explicand.shape)


def log_derivative(family, epsilon, sigma):
    """∇_x log π(z|x) at z = x + ε, element by element, by the density's own derivative."""
    step = 1e-6 * sigma
    density = UNIT[family]
    result = np.empty_like(epsilon)
    for place in np.ndindex(epsilon.shape):
        left, right = density.logpdf((epsilon[place] - step) / sigma), density.logpdf((epsilon[place] + step) / sigma)
        result[place] = -(right - left) / (2 * step)
    return result


def geex(f, plan, count, family="Gaussian"):
    """ξ = (x−x̊)/n* ∘ Σ f(x(α)+ε) ∇ log π(ε|0), over single queries, a mirrored pair being two of them."""
    x, x0 = plan.explicand, plan.baseline
    xi, n = np.zeros(x.shape), 0
    for alpha, epsilon in draws(plan, count):
        point = x0 + alpha * (x - x0)
        for noise in (epsilon, -epsilon) if plan.search.mirror else (epsilon,):
            xi += f((point + noise)[None])[0] * log_derivative(family, noise, plan.search.sigma)
            n += 1
    return (x - x0) * xi / n


def ge(f, plan, count):
    """η = 1/n Σ f(x+ε) ∇ log π(ε|0)."""
    eta, n = np.zeros(plan.explicand.shape), 0
    for _, epsilon in draws(plan, count):
        for noise in (epsilon, -epsilon) if plan.search.mirror else (epsilon,):
            eta += f((plan.explicand + noise)[None])[0] * noise / plan.search.sigma**2
            n += 1
    return eta / n


def interpolated(f, plan, count, steps):
    """ξ = (x−x̊)/s ∘ Σ_j η(x(j/s)), η a mean over the draws of step j."""
    x, x0 = plan.explicand, plan.baseline
    estimates = {j: [] for j in range(1, steps + 1)}
    for alpha, epsilon in draws(plan, count):
        point = x0 + alpha * (x - x0)
        for noise in (epsilon, -epsilon):
            estimates[round(alpha * steps)].append(f((point + noise)[None])[0] * noise / plan.search.sigma**2)
    assert len({len(samples) for samples in estimates.values()}) == 1, "every step has as many draws"
    return (x - x0) / steps * sum(np.mean(samples, axis=0) for samples in estimates.values())


def stderr(f, plan, count):
    """The standard error of `geex`, from differences of units that follow each other."""
    x, x0 = plan.explicand, plan.baseline
    terms = []
    for alpha, epsilon in draws(plan, count):
        point = x0 + alpha * (x - x0)
        contrast = (f((point + epsilon)[None])[0] - f((point - epsilon)[None])[0]) / 2
        terms.append(contrast * (x - x0) * epsilon / plan.search.sigma**2)
    block = plan.search.block
    units = [sum(terms[i : i + block]) for i in range(0, count - block + 1, block)]
    couples = [(units[i] - units[i + 1]) ** 2 for i in range(0, len(units) - 1, 2)]
    scale = count / (2 * len(couples) * block)
    return np.sqrt(scale * sum(couples)) / count


def smoothed(noise, kernel, sigma):
    """(w/‖w‖_F) * noise where the filter fits, as four loops."""
    offset = np.arange(kernel) - kernel // 2
    w = np.exp(-(offset[:, None] ** 2 + offset[None, :] ** 2) / (2 * sigma**2))
    w = w / np.sqrt((w**2).sum())
    height, width = (n - kernel + 1 for n in noise.shape)
    result = np.zeros((height, width))
    for row in range(height):
        for column in range(width):
            for i in range(kernel):
                for j in range(kernel):
                    result[row, column] += w[i, j] * noise[row + i, column + j]
    return result


def sigmoid(t):
    return 1 / (1 + np.exp(-t))


def blurred(f, at, sigma, family="Gaussian"):
    """J(at) = E f(at + ε) for one number, by quadrature."""
    density = UNIT[family]
    value, _ = integrate.quad(lambda u: f(at + sigma * u) * density.pdf(u), -30, 30, points=[0.0], limit=400)
    return value


def blurred_slope(f, at, sigma, family="Gaussian"):
    """J'(at)."""
    step = 1e-4
    return (blurred(f, at + step, sigma, family) - blurred(f, at - step, sigma, family)) / (2 * step)


def naive_kernel(prior):
    """K (q, q) of a prior, from how far every two places of its grid are apart."""
    places = np.indices(prior.shape).reshape(len(prior.shape), -1)
    apart = places[:, :, None] - places[:, None, :]
    total = np.zeros(apart.shape[1:])
    for share, width in prior.mixture:
        parts = [
            np.exp(-(steps**2) / (2 * width**2)) if width and axis in prior.axes else steps == 0
            for axis, steps in enumerate(apart)
        ]
        total += share * np.prod(parts, axis=0)
    return total


def naive_shapley_regression(model, players, pairs, seed):
    """Least squares on mirrored masks, sizes ∝ 1/(s(p − s)), drawn independently; the values are made to add up."""
    rng = np.random.default_rng(seed)
    sizes = np.arange(1, players)
    weights = 1 / (sizes * (players - sizes))
    drawn = rng.choice(sizes, pairs, p=weights / weights.sum())
    masks = np.argsort(np.argsort(rng.random((pairs, players)), axis=1), axis=1) < drawn[:, None]
    contrasts, d = 2.0 * masks - 1, model(masks) - model(~masks)
    whole = (model(np.ones((1, players))) - model(np.zeros((1, players))))[0]
    free = contrasts[:, :-1] - contrasts[:, -1:]
    first = np.linalg.lstsq(free, d - contrasts[:, -1] * whole, rcond=None)[0]
    return np.append(first, whole - first.sum())
