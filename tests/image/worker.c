/* A workload of a container with another C library: says that it runs, and under which term. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(void) {
  printf("worker of %s, version %s\n", getenv("TENURE_IDENTITY"), getenv("TENURE_VERSION"));
  fflush(stdout);
  for (;;) pause();
}
