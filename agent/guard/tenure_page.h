/* tenure_page.h: may I still write?
 *
 * A workload that Tenure has started (`tenure exec -- COMMAND`) finds in TENURE_PAGE the path of a
 * page of memory that says whether its lease is still in force, under which version, and until
 * when. Asking costs a clock reading and a few loads, so a worker can ask before each write:
 *
 *     const struct tenure_page *page = tenure_open();
 *     ...
 *     uint64_t version = tenure_version(page);
 *     if (version == 0) stop();             // the lease is over, or was never ours
 *     write_with(version, ...);             // and let the resource refuse a smaller one
 *
 * The answer turns to no at `stop_at` by this process's own clock, even if the agent and the guard
 * are frozen or dead at that time: nobody has to be there to take the lease back. What it cannot
 * prevent is a pause between the question and the write, in which the lease may end; the version
 * is for that.
 *
 * C99 or C++11 with GNU atomics (gcc, clang), Linux, no dependencies. All functions are
 * thread-safe, wait for nobody and allocate nothing. A null page is one that says no.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TENURE_PAGE_H
#define TENURE_PAGE_H

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#ifdef __cplusplus
extern "C" {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wold-style-cast"
#endif

#define TENURE_PAGE_MAGIC 0x6761702d756e6574ULL /* "tenu-pag" in memory on little-endian machines */
#define TENURE_PAGE_LAYOUT 1

enum tenure_state {
  TENURE_NONE = 0,     /* no lease */
  TENURE_ACTIVE = 1,   /* ours */
  TENURE_DRAINING = 2, /* ours still, and to be given up: finish what you have started, start nothing new */
};

/* Layout 1, in the machine's byte order. Offsets are those of the fields; bytes behind the last one
 * may get a meaning in a later release of the same layout. Read it through the functions below: the
 * fields change one after the other. */
struct tenure_page {
  uint64_t magic;
  uint32_t layout;
  uint32_t state;    /* at 12 */
  uint64_t sequence; /* at 16; odd while the others are being changed */
  uint64_t version;  /* at 24; the fencing version of the term */
  int64_t stop_at;   /* at 32; nanoseconds on CLOCK_BOOTTIME */
};

/* What the page said at one instant. */
struct tenure_term {
  enum tenure_state state;
  uint64_t version;
  int64_t stop_at;
};

/* Nanoseconds on CLOCK_BOOTTIME, which goes on while the machine sleeps. */
static inline int64_t tenure_now(void) {
  struct timespec now;
  if (clock_gettime(CLOCK_BOOTTIME, &now) != 0) return INT64_MAX;
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* Whether `page` is one that these functions can read. */
static inline int tenure_page_known(const struct tenure_page *page) {
  return page != NULL && page->magic == TENURE_PAGE_MAGIC && page->layout == TENURE_PAGE_LAYOUT;
}

/* Reads all fields as they were together. Returns 0 and fills `*out` with no lease if that cannot
 * be done: no page, another layout, or an agent that has died while it was writing. */
static inline int tenure_read(const struct tenure_page *page, struct tenure_term *out) {
  int tries;
  out->state = TENURE_NONE;
  out->version = 0;
  out->stop_at = INT64_MIN;
  if (!tenure_page_known(page)) return 0;
  for (tries = 0; tries < 1000; ++tries) {
    const uint64_t before = __atomic_load_n(&page->sequence, __ATOMIC_ACQUIRE);
    const uint32_t state = __atomic_load_n(&page->state, __ATOMIC_RELAXED);
    const uint64_t version = __atomic_load_n(&page->version, __ATOMIC_RELAXED);
    const int64_t stop_at = __atomic_load_n(&page->stop_at, __ATOMIC_RELAXED);
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    if ((before & 1) != 0 || __atomic_load_n(&page->sequence, __ATOMIC_RELAXED) != before) continue;
    if (state != TENURE_ACTIVE && state != TENURE_DRAINING) return 1;
    out->state = (enum tenure_state)state;
    out->version = version;
    out->stop_at = stop_at;
    return 1;
  }
  return 0;
}

/* Nanoseconds until the answer turns to no, unless the lease is renewed before; 0 if it is no. */
static inline int64_t tenure_remaining(const struct tenure_page *page) {
  struct tenure_term term;
  int64_t left;
  if (!tenure_read(page, &term) || term.state == TENURE_NONE) return 0;
  left = tenure_now();
  return left < term.stop_at ? term.stop_at - left : 0;
}

/* The version of the lease that is in force; 0: there is none. Send it along with each write. */
static inline uint64_t tenure_version(const struct tenure_page *page) {
  struct tenure_term term;
  if (!tenure_read(page, &term) || term.state == TENURE_NONE) return 0;
  return tenure_now() < term.stop_at ? term.version : 0;
}

/* 1 while the lease is in force. */
static inline int tenure_valid(const struct tenure_page *page) {
  return tenure_version(page) != 0;
}

/* 1 while the lease is in force and to be given up: begin nothing new. */
static inline int tenure_draining(const struct tenure_page *page) {
  struct tenure_term term;
  return tenure_read(page, &term) && term.state == TENURE_DRAINING && tenure_now() < term.stop_at;
}

/* Maps the page that TENURE_PAGE names, for the rest of the life of this process. Null, with errno,
 * if it is unset (ENOENT), cannot be opened, or is of another layout (EPROTO). */
static inline const struct tenure_page *tenure_open(void) {
  const char *path = getenv("TENURE_PAGE");
  struct stat file;
  void *memory;
  int fd;
  if (path == NULL) {
    errno = ENOENT;
    return NULL;
  }
  fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return NULL;
  if (fstat(fd, &file) != 0 || file.st_size < (off_t)sizeof(struct tenure_page)) {
    close(fd);
    errno = EPROTO;
    return NULL;
  }
  memory = mmap(NULL, sizeof(struct tenure_page), PROT_READ, MAP_SHARED, fd, 0);
  close(fd);
  if (memory == MAP_FAILED) return NULL;
  if (!tenure_page_known((const struct tenure_page *)memory)) {
    munmap(memory, sizeof(struct tenure_page));
    errno = EPROTO;
    return NULL;
  }
  return (const struct tenure_page *)memory;
}

#ifdef __cplusplus
#pragma GCC diagnostic pop
}
#endif

#endif /* TENURE_PAGE_H */
