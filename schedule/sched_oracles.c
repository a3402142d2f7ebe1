/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The table of generators for tools and tests: the component's, and those that only serve as a
 * comparison. In a library that is searched before the component's, so it is taken instead.
 */
#define CLV_WITH_ORACLES

#include "schedule/sched_generators.c"
