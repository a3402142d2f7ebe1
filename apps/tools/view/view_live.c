/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Repeats the summary while a job runs (see view.h). Each time it reads the files anew: they only
 * grow, and a half-written record is skipped until the next time.
 */
#include "apps/tools/view/view.h"

#include <poll.h>
#include <termios.h>
#include <unistd.h>

#define PERIOD_MS 1000
#define INTERRUPT 3              /* Ctrl-C, then an ordinary key */
#define CLEAR     "\033[H\033[J" /* terminal: cursor home, clear the rest */

/* Prints the summary once; false: no memory. */
static bool show(const char *folder, const view_choice_t *choice, const view_network_t *network)
{
    view_t view;
    view_counts_t counts;
    view_what_if_t what_if;
    char reason[1200];
    bool done = true;

    if (view_load(folder, choice, &view, reason, sizeof reason) != 0) {
        printf("clv-view: %s; waiting\n", reason);
    } else {
        done = view_count(&view, &counts) && view_find_what_if(&view, network, &what_if);
        if (done) {
            view_print_summary(stdout, &view, &counts, &what_if);
        }
        view_counts_free(&counts);
    }
    view_free(&view);
    return done;
}

/* Waits for a period. True: a q was read. Without input it only waits. */
static bool reads_q(bool *has_input)
{
    struct pollfd input = {.fd = *has_input ? STDIN_FILENO : -1, .events = POLLIN};
    char key = 0;

    if (poll(&input, 1, PERIOD_MS) <= 0) {
        return false;
    }
    if (read(STDIN_FILENO, &key, 1) <= 0) {
        *has_input = false;
        return false;
    }
    return key == 'q' || key == INTERRUPT;
}

int view_live(const char *folder, const view_choice_t *choice, const view_network_t *network)
{
    const bool is_terminal = isatty(STDIN_FILENO), clears = isatty(STDOUT_FILENO);
    view_choice_t quiet = *choice;
    struct termios before, keys;
    bool has_input = true;
    int status = 0;

    quiet.is_quiet = true;
    if (is_terminal && tcgetattr(STDIN_FILENO, &before) == 0) {
        keys = before;
        keys.c_lflag &= ~(tcflag_t) (ICANON | ECHO | ISIG); /* read keys without a newline */
        (void) tcsetattr(STDIN_FILENO, TCSANOW, &keys);
    }
    do {
        fputs(clears ? CLEAR : "", stdout);
        status = show(folder, &quiet, network) && fflush(stdout) == 0 ? 0 : 1;
    } while (status == 0 && !reads_q(&has_input));
    if (is_terminal) {
        (void) tcsetattr(STDIN_FILENO, TCSANOW, &before);
    }
    return status;
}
