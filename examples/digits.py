"""Does a spectral prior over a grid carry a vision transformer to larger images than it was trained on?

A transformer of one token a pixel learns scikit-learn's 8 x 8 digits, then reads the same test digits upsampled to
16 x 16 and 24 x 24. Arms, equal but for positions: `goat`, the prior over the grid, its heads started at the four
neighbours, with offsets counted in pixels of the training size (`goat`) or in its own pixels (`goat, own pixels`);
`absolute`, learned position embeddings, resized (bicubic) to the larger grid as vision transformers do; `none`.

    python examples/digits.py [--json FILE]          about two minutes on two cores; needs scikit-learn
"""

# B images, N tokens (class token first), H heads, D head width, C channels

from __future__ import annotations

import argparse
import json
import math
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, interpolate, scaled_dot_product_attention
from two_axes import GridPrior

TRAINED, SIZES = 8, (8, 16, 24)
CHANNELS, HEADS, LAYERS = 48, 4, 3
WAVELENGTHS = (2.0, 3.0, 5.0, 9.0, 16.0)  # pixels of the training size
NEIGHBOURS = torch.tensor([[0.0, 1.0], [0.0, -1.0], [1.0, 0.0], [-1.0, 0.0]])  # a head each; further off by layer
STEPS, BATCH, RATE = 400, 64, 2e-3


class Positions(nn.Module):
    """No positions: what the other arms change."""

    def embed(self, x: Tensor, size: int) -> Tensor:
        return x

    def extend(self, q: Tensor, k: Tensor, size: int, layer: int) -> tuple[Tensor, Tensor]:
        return q, k


class Absolute(Positions):
    """A learned vector a token, resized to the grid at hand."""

    def __init__(self) -> None:
        super().__init__()
        self.cells = nn.Parameter(torch.randn(1, CHANNELS, TRAINED, TRAINED) * 0.02)
        self.first = nn.Parameter(torch.zeros(1, 1, CHANNELS))

    def embed(self, x: Tensor, size: int) -> Tensor:
        cells = self.cells if size == TRAINED else interpolate(self.cells, (size, size), mode="bicubic")
        return x + torch.cat([self.first, cells.flatten(2).mT], dim=1)


class Goat(Positions):
    """A prior over the grid in every layer; `own_pixels` counts offsets in cells, whatever the size of the picture."""

    own_pixels = False

    def __init__(self) -> None:
        super().__init__()
        self.priors = nn.ModuleList(GridPrior(HEADS, WAVELENGTHS) for _ in range(LAYERS))
        for layer in range(LAYERS):
            self.prior(layer).look_at(NEIGHBOURS * (layer + 1))

    def prior(self, layer: int) -> GridPrior:
        found = self.priors[layer]
        assert isinstance(found, GridPrior)
        return found

    def extend(self, q: Tensor, k: Tensor, size: int, layer: int) -> tuple[Tensor, Tensor]:
        spacing = 1.0 if self.own_pixels else TRAINED / size
        return self.prior(layer).extend(q, k, size, size, spacing)


class Block(nn.Module):
    """Pre-norm attention and MLP."""

    def __init__(self) -> None:
        super().__init__()
        self.before, self.between = nn.LayerNorm(CHANNELS), nn.LayerNorm(CHANNELS)
        self.qkv, self.out = nn.Linear(CHANNELS, 3 * CHANNELS), nn.Linear(CHANNELS, CHANNELS)
        self.mlp = nn.Sequential(nn.Linear(CHANNELS, 2 * CHANNELS), nn.GELU(), nn.Linear(2 * CHANNELS, CHANNELS))

    def forward(self, x: Tensor, extend: Callable[[Tensor, Tensor], tuple[Tensor, Tensor]]) -> Tensor:
        heads = self.qkv(self.before(x)).unflatten(-1, (3, HEADS, -1)).permute(2, 0, 3, 1, 4)
        q, k, v = heads.unbind(0)
        q, k = extend(q, k)
        mixed = scaled_dot_product_attention(q, k, v, scale=1 / math.sqrt(v.shape[-1]))
        x = x + self.out(mixed.transpose(1, 2).flatten(2))
        return x + self.mlp(self.between(x))


class PixelTransformer(nn.Module):
    """Pixels (B, size, size) to logits (B, 10), read off the class token."""

    def __init__(self, positions: Positions) -> None:
        super().__init__()
        self.pixel = nn.Linear(1, CHANNELS)
        self.class_token = nn.Parameter(torch.randn(1, 1, CHANNELS) * 0.02)
        self.blocks = nn.ModuleList(Block() for _ in range(LAYERS))
        self.head = nn.Sequential(nn.LayerNorm(CHANNELS), nn.Linear(CHANNELS, 10))
        self.positions = positions

    def forward(self, images: Tensor) -> Tensor:
        size = images.shape[-1]
        cells = self.pixel(images.flatten(1).unsqueeze(-1))
        x = self.positions.embed(torch.cat([self.class_token.expand(len(images), -1, -1), cells], dim=1), size)
        for layer, block in enumerate(self.blocks):
            x = block(x, lambda q, k, layer=layer: self.positions.extend(q, k, size, layer))
        return self.head(x[:, 0])


def digits() -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Training images and labels, test images and labels: every fourth digit is a test digit."""
    try:
        from sklearn.datasets import load_digits
    except ImportError:
        sys.exit("error: this example needs scikit-learn for its digits; pip install scikit-learn")
    bundle = load_digits()
    images = torch.from_numpy(bundle.images).float() / 16 - 0.3
    labels = torch.from_numpy(bundle.target).long()
    held_out = torch.arange(len(labels)) % 4 == 3
    return images[~held_out], labels[~held_out], images[held_out], labels[held_out]


def train(positions: Callable[[], Positions], images: Tensor, labels: Tensor, seed: int) -> PixelTransformer:
    """One arm from one seed; arms of a seed see the same batches."""
    torch.manual_seed(seed)
    model = PixelTransformer(positions())
    optimizer = torch.optim.AdamW(model.parameters(), lr=RATE, weight_decay=0.01)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, RATE, total_steps=STEPS)
    random = np.random.default_rng(seed)
    for _ in range(STEPS):
        batch = torch.from_numpy(random.integers(len(labels), size=BATCH))
        optimizer.zero_grad()
        cross_entropy(model(images[batch]), labels[batch]).backward()
        optimizer.step()
        schedule.step()
    return model.eval()


@torch.no_grad()
def accuracy(model: PixelTransformer, images: Tensor, labels: Tensor, size: int) -> float:
    larger = interpolate(images[:, None], (size, size), mode="bilinear").squeeze(1)
    guesses = torch.cat([model(chunk).argmax(-1) for chunk in larger.split(64)])
    return float((guesses == labels).float().mean())


def measure(seeds: int) -> dict[str, np.ndarray]:
    """Accuracy of every arm, (seeds, sizes)."""
    images, labels, test_images, test_labels = digits()
    found: dict[str, list[list[float]]] = {}
    for seed in range(seeds):
        for name, positions in {"goat": Goat, "absolute": Absolute, "none": Positions}.items():
            model = train(positions, images, labels, seed)
            found.setdefault(name, []).append([accuracy(model, test_images, test_labels, size) for size in SIZES])
            if name == "goat":
                assert isinstance(model.positions, Goat)
                model.positions.own_pixels = True
                own = [accuracy(model, test_images, test_labels, size) for size in SIZES]
                found.setdefault("goat, own pixels", []).append(own)
            print(f"seed {seed} {name}: {found[name][-1]}", file=sys.stderr)
    return {name: np.array(values) for name, values in found.items()}


def rows(found: dict[str, np.ndarray], held_out: int) -> list[dict[str, Any]]:
    """One row an arm and size; the bars are the extrapolation claim."""
    bars = {("goat", 16): 0.8, ("goat", 24): 0.8}
    return [
        {
            "name": f"{name} at {size} x {size}",
            "value": round(float(values[:, column].mean()), 4),
            "unit": "accuracy",
            "bar": bars.get((name, size)),
            "sense": ">=",
            "rounds": len(values),
            "detail": f"{held_out} test digits, seeds {values[:, column].min():.3f} to {values[:, column].max():.3f}",
        }
        for name, values in found.items()
        for column, size in enumerate(SIZES)
    ]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", type=Path, help="write the rows here")
    parser.add_argument("--seeds", type=int, default=2)
    chosen = parser.parse_args()
    table = rows(measure(chosen.seeds), len(digits()[3]))
    for row in table:
        bar = "" if row["bar"] is None else f"{row['sense']} {row['bar']}"
        print(f"{row['name']:28} {row['value']:8.4f} {row['unit']:10} {bar:8} {row['detail']}")
    if chosen.json:
        chosen.json.write_text(json.dumps(table, indent=2) + "\n")
    return int(any(row["bar"] is not None and row["value"] < row["bar"] for row in table))


if __name__ == "__main__":
    sys.exit(main())
