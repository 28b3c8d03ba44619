/* Preloaded into the server by test_disk_faults.py: the calls that a disk can refuse fail when they are told to.
 *
 *   HK_FAULT_PATH   only files below this directory count
 *   HK_FAULT_CALLS  names of calls, separated by commas: open, write, pwrite, sync, fallocate, rename, link, truncate, read
 *   HK_FAULT_AT     the first of them that fails, counted from 1 (default 1)
 *   HK_FAULT_TIMES  how many fail from there on; 0: all (default 1)
 *   HK_FAULT_ERRNO  what they fail with (default EIO); below 0: the process gets this signal instead
 *   HK_FAULT_ARMED  if set: nothing is counted before this file exists
 *   HK_FAULT_FIRED  this file is made when one has failed
 *   HK_CLOCK_BACK   seconds by which the wall clock is late
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

static atomic_long counted;

static long number(const char *name, long otherwise) {
  const char *text = getenv(name);
  return text && *text ? strtol(text, NULL, 10) : otherwise;
}

static int told_to_fail(const char *call) {
  const char *calls = getenv("HK_FAULT_CALLS");
  const size_t length = strlen(call);
  for (const char *at = calls; at && *at; at += strcspn(at, ","), at += *at == ',') {
    if (strcspn(at, ",") == length && strncmp(at, call, length) == 0) {
      return 1;
    }
  }
  return 0;
}

/* Whether this call is to fail; errno says why. */
static int fails(const char *call, const char *path) {
  const char *below = getenv("HK_FAULT_PATH");
  if (!path || !below || strncmp(path, below, strlen(below)) != 0 || !told_to_fail(call)) {
    return 0;
  }
  const char *armed = getenv("HK_FAULT_ARMED");
  if (armed && *armed && syscall(SYS_faccessat, AT_FDCWD, armed, F_OK) != 0) {
    return 0;
  }
  const long now = atomic_fetch_add(&counted, 1) + 1;
  const long first = number("HK_FAULT_AT", 1);
  const long times = number("HK_FAULT_TIMES", 1);
  if (now < first || (times != 0 && now >= first + times)) {
    return 0;
  }
  const char *fired = getenv("HK_FAULT_FIRED");
  if (fired && *fired) {
    const long file = syscall(SYS_openat, AT_FDCWD, fired, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    char line[PATH_MAX + 64];
    const int bytes = snprintf(line, sizeof line, "%s %ld %s\n", call, now, path);
    if (file >= 0) {
      syscall(SYS_write, file, line, (size_t)bytes);
      syscall(SYS_close, file);
    }
  }
  const int error = (int)number("HK_FAULT_ERRNO", EIO);
  if (error < 0) {
    syscall(SYS_kill, getpid(), -error);
  }
  errno = error;
  return 1;
}

static int fails_on(const char *call, int fd) {
  char link[64];
  char path[PATH_MAX];
  const int saved = errno;
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  const ssize_t bytes = syscall(SYS_readlinkat, AT_FDCWD, link, path, sizeof path - 1);
  errno = saved;
  if (bytes <= 0) {
    return 0;
  }
  path[bytes] = '\0';
  return fails(call, path);
}

#define NEXT(type, name) ((type)dlsym(RTLD_NEXT, name))

#define OPEN(name)                                                      \
  int name(const char *path, int flags, ...) {                          \
    mode_t mode = 0;                                                    \
    if (flags & (O_CREAT | __O_TMPFILE)) {                              \
      va_list rest;                                                     \
      va_start(rest, flags);                                            \
      mode = va_arg(rest, mode_t);                                      \
      va_end(rest);                                                     \
    }                                                                   \
    if (fails("open", path)) return -1;                                 \
    return NEXT(int (*)(const char *, int, ...), #name)(path, flags, mode); \
  }
OPEN(open)
OPEN(open64)

#define ON_FD(type, name, call, parameters, arguments)   \
  type name parameters {                                 \
    if (fails_on(call, fd)) return -1;                   \
    return NEXT(type(*) parameters, #name) arguments;    \
  }
ON_FD(ssize_t, write, "write", (int fd, const void *from, size_t bytes), (fd, from, bytes))
ON_FD(ssize_t, writev, "write", (int fd, const struct iovec *from, int count), (fd, from, count))
ON_FD(ssize_t, pwrite, "pwrite", (int fd, const void *from, size_t bytes, off_t at), (fd, from, bytes, at))
ON_FD(ssize_t, pwrite64, "pwrite", (int fd, const void *from, size_t bytes, off64_t at), (fd, from, bytes, at))
ON_FD(ssize_t, pread, "read", (int fd, void *to, size_t bytes, off_t at), (fd, to, bytes, at))
ON_FD(ssize_t, pread64, "read", (int fd, void *to, size_t bytes, off64_t at), (fd, to, bytes, at))
ON_FD(int, fsync, "sync", (int fd), (fd))
ON_FD(int, fdatasync, "sync", (int fd), (fd))
ON_FD(int, fallocate, "fallocate", (int fd, int mode, off_t at, off_t bytes), (fd, mode, at, bytes))
ON_FD(int, fallocate64, "fallocate", (int fd, int mode, off64_t at, off64_t bytes), (fd, mode, at, bytes))
ON_FD(int, ftruncate, "truncate", (int fd, off_t bytes), (fd, bytes))
ON_FD(int, ftruncate64, "truncate", (int fd, off64_t bytes), (fd, bytes))

int clock_gettime(clockid_t clock, struct timespec *now) {
  const int done = (int)syscall(SYS_clock_gettime, clock, now);
  if (done == 0 && clock == CLOCK_REALTIME) {
    now->tv_sec -= number("HK_CLOCK_BACK", 0);
  }
  return done;
}

int rename(const char *from, const char *to) {
  if (fails("rename", to)) return -1;
  return NEXT(int (*)(const char *, const char *), "rename")(from, to);
}

int link(const char *from, const char *to) {
  if (fails("link", to)) return -1;
  return NEXT(int (*)(const char *, const char *), "link")(from, to);
}
