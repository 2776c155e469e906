#include "cli/interrupt.h"

#include <stddef.h>
#include <string.h>
#include <unistd.h>

volatile sig_atomic_t interrupt_level;

static const int numbers[] = {SIGHUP, SIGINT, SIGTERM};
enum { N_NUMBERS = sizeof numbers / sizeof *numbers };
static struct sigaction before[N_NUMBERS];

static void say(const char *text)
{
    ssize_t ignored = write(STDERR_FILENO, text, strlen(text));

    (void)ignored;
}

static void on_signal(int number)
{
    if (number != SIGINT || interrupt_level >= 1)
        interrupt_level = 2;
    else
        interrupt_level = 1;
    if (interrupt_level == 1)
        say("\ntare: interrupted: requests on their way are finished, nothing more is begun; again to stop at once\n");
    else
        say("\ntare: stopping: what is finished is kept\n");
}

void interrupt_begin(void)
{
    struct sigaction ours = {.sa_handler = on_signal};
    size_t i;

    sigemptyset(&ours.sa_mask);
    interrupt_level = 0;
    for (i = 0; i < N_NUMBERS; i++)
        if (sigaction(numbers[i], NULL, &before[i]) == 0 && before[i].sa_handler != SIG_IGN)
            sigaction(numbers[i], &ours, NULL);
}

void interrupt_end(void)
{
    size_t i;

    for (i = 0; i < N_NUMBERS; i++)
        if (before[i].sa_handler != SIG_IGN)
            sigaction(numbers[i], &before[i], NULL);
}
