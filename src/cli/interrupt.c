#include "cli/interrupt.h"

#include <signal.h>
#include <string.h>

static struct sigaction before;
static volatile sig_atomic_t came;

static void note_interrupt(int number)
{
    (void)number;
    came = 1;
    sigaction(SIGINT, &before, NULL); /* patience ends with the second one */
}

void fl_interrupt_catch(void)
{
    struct sigaction action;
    came = 0;
    if (sigaction(SIGINT, NULL, &before) != 0 || before.sa_handler == SIG_IGN)
        return;
    memset(&action, 0, sizeof action);
    action.sa_handler = note_interrupt;
    action.sa_flags = SA_RESTART;
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
}

bool fl_interrupt_came(void)
{
    return came != 0;
}

void fl_interrupt_release(void)
{
    if (before.sa_handler != SIG_IGN)
        sigaction(SIGINT, &before, NULL);
}
