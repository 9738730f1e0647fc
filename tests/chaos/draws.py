"""Random draws that a seed reproduces, on every release of Python."""
from __future__ import annotations

import random
from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")


class Draws:
    """Built on random() alone, the one function whose sequence Python promises to keep."""

    def __init__(self, *seed: object) -> None:
        self._random = random.Random(" ".join(str(part) for part in seed))

    def chance(self, probability: float) -> bool:
        return self._random.random() < probability

    def between(self, least: int, most: int) -> int:
        """Both included."""
        return least + int(self._random.random() * (most - least + 1))

    def one_of(self, choices: Sequence[T]) -> T:
        return choices[self.between(0, len(choices) - 1)]

    def weighted(self, choices: Sequence[tuple[T, int]]) -> T:
        """One of them, each as likely as its weight says."""
        left = self.between(1, sum(weight for _, weight in choices))
        for choice, weight in choices:
            left -= weight
            if left <= 0:
                return choice
        raise AssertionError("the weights are not positive")
