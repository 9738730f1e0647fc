"""Runs unittest's tests several at a time: those of pods wait most of the time, for a kubelet, a lease or a roll-out."""
import concurrent.futures
import random
import threading
import time
import unittest


def alone(test):
    """A test that does something to what the others share: it runs when they have ended."""
    test.is_alone = True
    return test


def last(test):
    """A test that runs alone, after all others: what it does to what they share is felt for a while."""
    test.is_last = True
    return alone(test)


def _has(mark, one):
    return any(getattr(what, mark, False) for what in (one, getattr(one, one._testMethodName)))


def _all(suite):
    for one in suite:
        if isinstance(one, unittest.TestSuite):
            yield from _all(one)
        else:
            yield one


def load(module, names):
    """The tests that are named as unittest names them; all of the module if none is."""
    loader = unittest.defaultTestLoader
    found = loader.loadTestsFromNames(names, module) if names else loader.loadTestsFromModule(module)
    return list(_all(found))


def drawn(tests, seed):
    """Of the tests of each class that has `one_in` N, so many; of each other class, all. Says what was drawn, and how to have
    the same or all."""
    draw, out = random.Random(seed), []
    for kind in dict.fromkeys(type(one) for one in tests):
        its = [one for one in tests if type(one) is kind]
        share = -(-len(its) // getattr(kind, "one_in", 1))
        chosen = set(draw.sample(range(len(its)), share))
        out += [one for at, one in enumerate(its) if at in chosen]
        if share < len(its):
            print(f"{kind.__name__}: {share} of {len(its)} tests, drawn by DEV_DRAW={seed}; ./dev test --whole runs all",
                  flush=True)
    return out


class Runner:
    """Says how each test ends when it does, and what failed at the end."""

    def __init__(self, at_once):
        self.at_once = at_once
        self.lock = threading.Lock()
        self.failed = []  # (test, what it raised)

    def run(self, tests):
        """True if no test failed. Those that take long should be first: the last ones run beside fewer others."""
        together = [one for one in tests if not _has("is_alone", one)]
        with concurrent.futures.ThreadPoolExecutor(self.at_once) as pool:
            list(pool.map(self._run, together))
        for one in sorted((one for one in tests if _has("is_alone", one)), key=lambda one: _has("is_last", one)):
            self._run(one)
        for one, raised in self.failed:
            print(f"=== {one}\n{raised}", flush=True)
        print(f"{len(tests)} tests, {len({one for one, _ in self.failed})} failed", flush=True)
        return bool(tests) and not self.failed

    def _run(self, one):
        began = time.monotonic()
        result = unittest.TestResult()
        one.run(result)
        broken = [(str(which), raised) for which, raised in result.failures + result.errors]
        broken += [(str(which), "was expected to fail, and did not") for which in result.unexpectedSuccesses]
        with self.lock:
            self.failed += broken
            print(f"{one} ... {'FAILED' if broken else 'ok'} after {time.monotonic() - began:.0f} s", flush=True)
            for which, why in result.skipped:
                print(f"{which} ... skipped '{why}'", flush=True)
