"""How a test waits for what happens somewhere else."""
import time

PATIENCE = 30  # seconds; only a failing test waits so long


def until(condition, what, patience=PATIENCE, pause=0.02):
    """Waits for `condition`, which is tried again and again; its value. Fails when patience ends."""
    deadline = time.monotonic() + patience
    while not (value := condition()):
        if time.monotonic() > deadline:
            raise AssertionError(f"it did not happen within {patience} s: {what}")
        time.sleep(pause)
    return value
