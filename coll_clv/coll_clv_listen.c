/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Sleeps that a message ends (see coll_clv_listen.h).
 */
#include "coll_clv/coll_clv_listen.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "coll_clv/coll_clv.h"

#include "opal/mca/base/mca_base_var.h"
#include "opal/mca/btl/base/base.h"
#include "opal/runtime/opal_progress.h"

#include "coll_clv/coll_clv_show.h"
#include "util/util_time.h"

/* libevent's values, the same in all releases since 2.0. */
#define LOOP_ONCE     0x01
#define EVENT_READ    0x02
#define EVENT_PERSIST 0x10

typedef void (*handler_t)(int fd, short what, void *context);

/* The event base that opal_progress runs, and libevent's functions. */
typedef struct loop {
    void *base;
    int (*turn)(void *base, int flags);
    void *(*make)(void *base, int fd, short what, handler_t handler, void *context);
    int (*add)(void *event, const struct timeval *timeout);
    int (*delete)(void *event);
    void (*free)(void *event);
} loop_t;

static enum { NOT_ASKED, NO, YES } answer;
static loop_t loop;
static int timer = -1;
static void *timer_event;
static bool has_rung;

/* The timer stays readable until it is read, so no turn of the loop can miss it. */
static void ring(int fd, short what, void *context)
{
    uint64_t n_times;

    (void) what;
    (void) context;
    has_rung = 0 < read(fd, &n_times, sizeof n_times);
}

/* Open MPI's bundled libevent prefixes its symbols. */
static bool find(const char *name, void *function_p)
{
    char other[96];
    void *symbol;

    (void) snprintf(other, sizeof other, "opal_libevent2022_%s", name);
    symbol = dlsym(RTLD_DEFAULT, other);
    if (NULL == symbol) {
        symbol = dlsym(RTLD_DEFAULT, name);
    }
    memcpy(function_p, &symbol, sizeof symbol);
    return NULL != symbol;
}

static bool find_loop(void)
{
    void **base_p = NULL;

    if (!find("opal_sync_event_base", &base_p) || !find("event_base_loop", &loop.turn) ||
        !find("event_new", &loop.make) || !find("event_add", &loop.add) ||
        !find("event_del", &loop.delete) || !find("event_free", &loop.free)) {
        return false;
    }
    loop.base = *base_p;
    return NULL != loop.base;
}

static bool is_set(const char *framework, const char *component, const char *name)
{
    const int index = mca_base_var_find("opal", framework, component, name);
    const int *value = NULL;

    return 0 <= index && OPAL_SUCCESS == mca_base_var_get_value(index, &value, NULL, NULL) &&
           NULL != value && 0 != *value;
}

static bool are_all_sockets(void)
{
    mca_btl_base_selected_module_t *selected;
    int n_tcp = 0;

    if (0 != strcmp("ob1", coll_clv_pml_name()) || is_set("btl", "tcp", "progress_thread")) {
        return false;
    }
    OPAL_LIST_FOREACH(selected, &mca_btl_base_modules_initialized, mca_btl_base_selected_module_t)
    {
        const char *name = selected->btl_component->btl_version.mca_component_name;
        n_tcp += 0 == strcmp("tcp", name);
        if (0 != strcmp("tcp", name) && 0 != strcmp("self", name)) {
            return false;
        }
    }
    return 0 < n_tcp;
}

static bool set_timer(void)
{
    timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
    timer_event =
        0 > timer ? NULL : loop.make(loop.base, timer, EVENT_READ | EVENT_PERSIST, ring, NULL);
    return NULL != timer_event && 0 == loop.add(timer_event, NULL);
}

bool coll_clv_listen_can(void)
{
    if (NOT_ASKED == answer) {
        answer =
            !mca_coll_clv_component.is_threaded && are_all_sockets() && find_loop() && set_timer()
                ? YES
                : NO;
    }
    return YES == answer;
}

/* While it blocks, progress made within an event stays out of the loop. */
bool coll_clv_listen(int64_t ns)
{
    const struct itimerspec until = {
        .it_value = {.tv_sec = ns / CLV_NS_PER_S, .tv_nsec = ns % CLV_NS_PER_S}};
    int flags;

    has_rung = false;
    if (0 != timerfd_settime(timer, 0, &until, NULL)) {
        return true; /* without a timer nothing would end the sleep: do not sleep */
    }
    flags = opal_progress_set_event_flag(0);
    (void) loop.turn(loop.base, LOOP_ONCE);
    (void) opal_progress_set_event_flag(flags);
    return !has_rung;
}

void coll_clv_listen_close(void)
{
    if (NULL != timer_event) {
        (void) loop.delete(timer_event);
        loop.free(timer_event);
    }
    if (0 <= timer) {
        (void) close(timer);
    }
    timer_event = NULL;
    timer = -1;
    answer = NOT_ASKED;
}
