/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The table of generators and their one entry function, which checks the arguments. Tools and tests
 * get those of sched_oracles.c, whose table has more rows.
 */
#include "schedule/sched_generators.h"

#include <string.h>

const clv_generator_t clv_generators[] = {
#define CLV_GENERATOR_ROW(name, stem, meaning)                                                     \
    {name, meaning, 1u << CLV_GOAL_REDUCE, clv_sched_##stem##_generate, NULL},
    CLV_GENERATOR_MAP(CLV_GENERATOR_ROW)
#undef CLV_GENERATOR_ROW
#define CLV_PLACE_GENERATOR_ROW(name, stem, flat, meaning)                                         \
    {name, meaning, 1u << CLV_GOAL_REDUCE, clv_sched_##stem##_generate, clv_sched_##stem##_fast},
        CLV_PLACE_GENERATOR_MAP(CLV_PLACE_GENERATOR_ROW)
#undef CLV_PLACE_GENERATOR_ROW
#define CLV_OTHER_GENERATOR_ROW(name, stem, goal, meaning)                                         \
    {name, meaning, 1u << CLV_GOAL_##goal, clv_sched_##stem##_generate, NULL},
            CLV_OTHER_GENERATOR_MAP(CLV_OTHER_GENERATOR_ROW)
#undef CLV_OTHER_GENERATOR_ROW
                {NULL, NULL, 0, NULL, NULL},
};

const clv_generator_t *clv_generator_find(const char *name)
{
    for (const clv_generator_t *row = clv_generators; row->name != NULL; row++) {
        if (strcmp(row->name, name) == 0) {
            return row;
        }
    }
    return NULL;
}

const clv_generator_t *clv_generator_on_places(const clv_generator_t *generator)
{
    static const char *const pairs[][2] = {
#define CLV_PLACE_GENERATOR_PAIR(name, stem, flat, meaning) {flat, name},
        CLV_PLACE_GENERATOR_MAP(CLV_PLACE_GENERATOR_PAIR)
#undef CLV_PLACE_GENERATOR_PAIR
    };
    for (size_t k = 0; k < sizeof pairs / sizeof *pairs; k++) {
        if (strcmp(pairs[k][0], generator->name) == 0) {
            return clv_generator_find(pairs[k][1]);
        }
    }
    return generator;
}

clv_status_t clv_plan_make(const clv_generator_t *generator, const clv_instance_t *instance,
                           clv_plan_t **plan_p)
{
    const char *reason;
    clv_status_t status = clv_instance_check(instance, &reason);
    if (status == CLV_OK && (generator->goals >> instance->goal & 1) == 0) {
        status = CLV_UNSUPPORTED;
    }
    return status == CLV_OK ? generator->generate(instance, plan_p) : status;
}
