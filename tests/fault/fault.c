/* fault.c - loaded before the C library to make what hardly ever happens happen:
 *   FAULT_MALLOC=n        the n-th allocation of a process after the start of main() fails
 *   FAULT_FSYNC_SIGNAL=s  the signal s arrives when an output has been written and is about to be renamed
 * LD_PRELOAD=…/libfault.so FAULT_MALLOC=17 tare … */
#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>

void *__libc_malloc(size_t n);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *p, size_t n);
void *__libc_memalign(size_t alignment, size_t n);

static atomic_long left; /* allocations until the one that fails; 0 = none does */

static int (*real_main)(int argc, char **argv, char **env);

static int counted_main(int argc, char **argv, char **env)
{
    const char *text = getenv("FAULT_MALLOC");

    atomic_store(&left, text ? strtol(text, NULL, 10) : 0);
    return real_main(argc, argv, env);
}

/* Counting begins with main(): what libraries allocate while they are loaded is not the program's. */
int __libc_start_main(int (*main)(int, char **, char **), int argc, char **argv, void (*init)(void), void (*fini)(void),
                      void (*rtld_fini)(void), void *stack_end)
{
    int (*next)(int (*)(int, char **, char **), int, char **, void (*)(void), void (*)(void), void (*)(void), void *);

    next = dlsym(RTLD_NEXT, "__libc_start_main");
    real_main = main;
    return next(counted_main, argc, argv, init, fini, rtld_fini, stack_end);
}

static int fails(void)
{
    if (atomic_load(&left) <= 0 || atomic_fetch_sub(&left, 1) != 1)
        return 0;
    errno = ENOMEM;
    return 1;
}

void *malloc(size_t n)
{
    return fails() ? NULL : __libc_malloc(n);
}

void *calloc(size_t n, size_t size)
{
    return fails() ? NULL : __libc_calloc(n, size);
}

void *realloc(void *p, size_t n)
{
    return fails() ? NULL : __libc_realloc(p, n);
}

void *aligned_alloc(size_t alignment, size_t n)
{
    return fails() ? NULL : __libc_memalign(alignment, n);
}

int posix_memalign(void **ret, size_t alignment, size_t n)
{
    void *p = fails() ? NULL : __libc_memalign(alignment, n);

    if (!p)
        return ENOMEM;
    *ret = p;
    return 0;
}

int fsync(int fd)
{
    const char *text = getenv("FAULT_FSYNC_SIGNAL");
    int (*next)(int) = dlsym(RTLD_NEXT, "fsync");

    if (text)
        raise((int)strtol(text, NULL, 10));
    return next(fd);
}
