/* A worker that asks before each write whether it still may. Run it under Tenure:
 *
 *     cc -I agent/workload -o worker docs/examples/worker/worker.c
 *     tenure exec --store sqlite --endpoint ./leases --election demo -- ./worker
 *
 * It prints a line whenever the answer changes, and ends once it is to. */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tenure_page.h"

int main(void) {
  char now[64], before[64] = "";
  const struct tenure_page *page = tenure_open();
  if (page == NULL) {
    fprintf(stderr, "no page: %s; start this under `tenure exec --`\n", strerror(errno));
    return 1;
  }
  /* That it is to end it learns from the page, which also says for how long it may go on. */
  signal(SIGTERM, SIG_IGN);
  for (;; usleep(5000)) {
    const uint64_t version = tenure_version(page);
    /* Asked once a turn: it may become true at any moment. */
    const int draining = tenure_draining(page);
    if (version == 0) {
      snprintf(now, sizeof now, "may not write");
    } else {
      /* Here it would write, and send the version along. */
      snprintf(now, sizeof now, "%s, version %llu",
               draining ? "finish" : "may write", (unsigned long long)version);
    }
    if (strcmp(now, before) != 0) {
      puts(now);
      fflush(stdout);
      strcpy(before, now);
    }
    if (draining) return 0;
  }
}
