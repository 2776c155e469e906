/* The mock server as a program: prints where it listens, serves until a signal, or for as long as a command runs. */
#include "core/base/buf.h"
#include "core/base/file.h"
#include "core/base/num.h"
#include "tests/mock/mock.h"

#include <errno.h>
#include <getopt.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const char help[] =
    "usage: mock_server [options] [-- COMMAND…]\n"
    "Listens on 127.0.0.1 and prints its address. With a COMMAND it runs that, {url} in its words being the address,\n"
    "and ends with its exit code. What requests can ask for stands in tests/mock/README.md.\n"
    "  --port N          instead of any free one\n"
    "  --spec WORDS      what every request asks for before it says more itself\n"
    "  --script FILE     a spec a line, for the first, second, … request\n"
    "  --log FILE        what was really sent, and when (JSON Lines, written at the end)\n"
    "  --dead-after N    after so many completions the server is gone\n"
    "  --slots N         replies at once, the rest queue\n"
    "  --context N       context limit that it tells\n"
    "  --api-key KEY     that it demands\n"
    "  --bare            no /tokenize, no /props, no limit\n";

static struct mock *serving; /* for the signal handler */

static void on_signal(int number)
{
    (void)number;
    mock_stop(serving);
}

struct args {
    struct mock_opts opts;
    struct buf script;
    char **command; /* NULL: none */
};

static uint64_t number(const char *text, const char *option)
{
    uint64_t n;

    if (!num_u64(text, &n)) {
        fprintf(stderr, "mock_server: %s: '%s' is no number\n", option, text);
        exit(2);
    }
    return n;
}

static void read_args(struct args *a, int argc, char **argv)
{
    static const struct option options[] = {{"port", 1, 0, 'p'},
                                            {"spec", 1, 0, 's'},
                                            {"script", 1, 0, 'f'},
                                            {"log", 1, 0, 'l'},
                                            {"dead-after", 1, 0, 'd'},
                                            {"slots", 1, 0, 'n'},
                                            {"context", 1, 0, 'c'},
                                            {"api-key", 1, 0, 'k'},
                                            {"bare", 0, 0, 'b'},
                                            {"help", 0, 0, 'h'},
                                            {0}};
    struct error err = {0};
    int c;

    while ((c = getopt_long(argc, argv, "+", options, NULL)) != -1) {
        if (c == 'p')
            a->opts.port = (uint16_t)number(optarg, "--port");
        else if (c == 's')
            a->opts.spec = optarg;
        else if (c == 'l')
            a->opts.log_path = optarg;
        else if (c == 'd')
            a->opts.dead_after = number(optarg, "--dead-after");
        else if (c == 'n')
            a->opts.slots = (size_t)number(optarg, "--slots");
        else if (c == 'c')
            a->opts.context_limit = (int64_t)number(optarg, "--context");
        else if (c == 'k')
            a->opts.api_key = optarg;
        else if (c == 'b')
            a->opts.is_bare = true;
        else if (c != 'f') {
            fputs(help, c == 'h' ? stdout : stderr);
            exit(c == 'h' ? 0 : 2);
        } else if (file_read(optarg, 1 << 20, &a->script, &err) != OK) {
            fprintf(stderr, "mock_server: %s\n", err.message);
            exit(2);
        }
    }
    if (a->script.len)
        a->opts.script = buf_text(&a->script);
    a->command = argv + optind;
}

/* The word with "{url}" replaced; owned by the caller. */
static char *with_url(const char *word, const char *url)
{
    const char *at = strstr(word, "{url}");
    size_t room = strlen(word) + strlen(url) + 1;
    char *text = malloc(room);

    if (!text)
        abort();
    if (at)
        snprintf(text, room, "%.*s%s%s", (int)(at - word), word, url, at + 5);
    else
        snprintf(text, room, "%s", word);
    return text;
}

static void *serve(void *result)
{
    struct error err = {0};

    *(enum status *)result = mock_serve(serving, &err);
    if (err.code != OK)
        fprintf(stderr, "mock_server: %s\n", err.message);
    return NULL;
}

static int run_command(char **words, const char *url)
{
    pid_t child = fork();
    int status, i;

    if (child == 0) {
        for (i = 0; words[i]; i++)
            words[i] = with_url(words[i], url);
        setenv("MOCK_URL", url, 1);
        execvp(words[0], words);
        fprintf(stderr, "mock_server: '%s': %s\n", words[0], strerror(errno));
        _exit(127);
    }
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
        continue;
    if (child < 0)
        return 127;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static int run(struct args *a)
{
    enum status st = OK;
    struct error err = {0};
    pthread_t thread;
    char url[64];
    int rc = 0;

    if (mock_new(&serving, &a->opts, &err) != OK) {
        fprintf(stderr, "mock_server: %s\n", err.message);
        return 2;
    }
    signal(SIGTERM, on_signal);
    signal(SIGINT, on_signal);
    snprintf(url, sizeof url, "http://127.0.0.1:%u/v1", mock_port(serving));
    if (!a->command[0]) {
        printf("%s\n", url);
        fflush(stdout);
        serve(&st);
    } else if (pthread_create(&thread, NULL, serve, &st) == 0) {
        rc = run_command(a->command, url);
        mock_stop(serving);
        pthread_join(thread, NULL);
    }
    mock_free(serving);
    return st == OK ? rc : 4;
}

int main(int argc, char **argv)
{
    struct args a = {0};
    int rc;

    read_args(&a, argc, argv);
    rc = run(&a);
    buf_done(&a.script);
    return rc;
}
