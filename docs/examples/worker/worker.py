"""A worker that asks before each write whether it still may. Run it under Tenure:

    tenure exec --store sqlite --endpoint ./leases --election demo -- python3 worker.py

It prints a line whenever the answer changes, and ends once it is to. The page's layout is in docs/worker-page.md.
"""
import mmap
import os
import signal
import sys
import time

MAGIC, LAYOUT = 0x6761702D756E6574, 1
NONE, ACTIVE, DRAINING = 0, 1, 2


class Page:
    """What Tenure says of our lease, without asking anybody."""

    def __init__(self, path):
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        try:
            memory = memoryview(mmap.mmap(fd, os.fstat(fd).st_size, prot=mmap.PROT_READ))
        finally:
            os.close(fd)
        # Whole words, each read at once.
        self._u32 = memory[:16].cast("I")
        self._u64 = memory[:40].cast("Q")
        self._stop_at = memory[32:40].cast("q")
        if self._u64[0] != MAGIC or self._u32[2] != LAYOUT:
            raise ValueError(path + " is not a page of this layout")

    def read(self):
        """State and version; NONE and 0 once the lease is over by our own clock."""
        for _ in range(1000):
            before = self._u64[2]
            state, version, stop_at = self._u32[3], self._u64[3], self._stop_at[0]
            if before % 2 == 0 and self._u64[2] == before:
                # The clock last: what was read can only be older than the question.
                valid = state != NONE and time.clock_gettime_ns(time.CLOCK_BOOTTIME) < stop_at
                return (state, version) if valid else (NONE, 0)
        return NONE, 0


def main():
    try:
        page = Page(os.environ["TENURE_PAGE"])
    except (KeyError, OSError, ValueError) as why:
        sys.exit(f"no page: {why!r}; start this under `tenure exec --`")
    # That it is to end it learns from the page, which also says for how long it may go on.
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    before = None
    while True:
        state, version = page.read()
        if state == NONE:
            now = "may not write"
        else:
            # Here it would write, and send the version along.
            now = f"{'finish' if state == DRAINING else 'may write'}, version {version}"
        if now != before:
            print(now, flush=True)
            before = now
        if state == DRAINING:
            return
        time.sleep(0.005)


if __name__ == "__main__":
    main()
