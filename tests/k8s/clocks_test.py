#!/usr/bin/env python3
"""clocks_test.py --tenure TENURE --pause PAUSE --worker WORKER [TEST]...: pods on a machine whose clock is set.

All programs of a machine have one clock, whatever their namespaces: nothing else may run beside this."""
import time

from scene import TTL, Scene, main


class Clocks(Scene):
    """Clocks that people set are not what a lease counts by."""

    def test_a_clock_that_is_set_costs_nothing(self):
        self.apply("guard", settings=TTL)
        active, others = self.active_and_standby()
        began = time.clock_gettime(time.CLOCK_BOOTTIME)
        truth = time.time() - began
        hour = 3600
        try:
            for off in (hour, -hour, 0):
                time.clock_settime(time.CLOCK_REALTIME, truth + time.clock_gettime(time.CLOCK_BOOTTIME) + off)
                self.stays_active(active, 8)
        finally:
            time.clock_settime(time.CLOCK_REALTIME, truth + time.clock_gettime(time.CLOCK_BOOTTIME))
        self.delete(active)
        self.assertIn(self.becomes_active([active]), others)
        self.judge()


if __name__ == "__main__":
    main(__file__)
