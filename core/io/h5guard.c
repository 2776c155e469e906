#include "core/io/h5guard.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* Processor time that reading may take: a loop in the library takes forever. */
enum { BASE_SECONDS = 3, BYTES_PER_SECOND = 10 << 20 };

/* The handlers of the program tidy up and speak for it, which the child has nothing to do with. */
static void end_by_default(void)
{
    static const int numbers[] = {SIGHUP, SIGINT, SIGTERM};
    struct sigaction before;
    size_t i;

    for (i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (sigaction(numbers[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN)
            signal(numbers[i], SIG_DFL);
}

/* Whatever the attempt does, it says nothing and leaves nothing behind. */
static void run_child(const char *path, void (*attempt)(const char *path, const void *context), const void *context)
{
    struct stat sb = {0};
    rlim_t seconds = BASE_SECONDS + (stat(path, &sb) == 0 ? (rlim_t)sb.st_size / BYTES_PER_SECOND : 0);
    struct rlimit limit = {.rlim_cur = seconds, .rlim_max = seconds + 1};
    int null = open("/dev/null", O_WRONLY | O_CLOEXEC);

    if (null >= 0) {
        dup2(null, STDOUT_FILENO);
        dup2(null, STDERR_FILENO);
    }
    signal(SIGXCPU, SIG_DFL);
    end_by_default();
    if (setrlimit(RLIMIT_CPU, &limit))
        _exit(0); /* then nothing is tried */
    attempt(path, context);
    _exit(0);
}

enum status h5guard_call(const char *path, void (*attempt)(const char *path, const void *context), const void *context,
                         struct error *err)
{
    int state = 0;
    pid_t child = fork(), got;

    if (child < 0)
        return OK;
    if (child == 0)
        run_child(path, attempt, context);
    do
        got = waitpid(child, &state, 0);
    while (got < 0 && errno == EINTR);
    if (got != child || (WIFEXITED(state) && WEXITSTATUS(state) == 0))
        return OK;
    if (WIFSIGNALED(state) && (WTERMSIG(state) == SIGXCPU || WTERMSIG(state) == SIGKILL))
        return error_set(err, ERR_FORMAT,
                         "'%s': the HDF5 library does not come to an end on this file; it is damaged, "
                         "copy or write it again",
                         path);
    return error_set(err, ERR_FORMAT,
                     "'%s': the HDF5 library fails on this file (%s); it is damaged, copy or write it "
                     "again",
                     path, WIFSIGNALED(state) ? strsignal(WTERMSIG(state)) : "it ended the process");
}

/* A function is no object, so a pointer to it travels inside one. */
struct plain {
    void (*attempt)(const char *path);
};

static void call_plain(const char *path, const void *context)
{
    ((const struct plain *)context)->attempt(path);
}

enum status h5guard_try(const char *path, void (*attempt)(const char *path), struct error *err)
{
    struct plain plain = {attempt};

    return h5guard_call(path, call_plain, &plain, err);
}
