/* Interrupts: the first one ends the work in good order, a second one kills. A terminal that goes away (SIGHUP) is one
 * too, but not under nohup, which has the signal ignored. */
#include "command.h"

#include <signal.h>

static volatile bool interrupted;

static void interrupt(int signal_number)
{
    (void)signal_number;
    interrupted = true;
}

const volatile bool *pw_cli_catch_interrupts(void)
{
    struct sigaction action = {.sa_handler = interrupt, .sa_flags = (int)SA_RESETHAND};
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    struct sigaction hangup;
    if (sigaction(SIGHUP, NULL, &hangup) == 0 && hangup.sa_handler != SIG_IGN)
        sigaction(SIGHUP, &action, NULL);
    return &interrupted;
}
