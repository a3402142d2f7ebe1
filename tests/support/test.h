/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What every unit test begins and ends with: cmocka, the headers that it wants before its own and
 * that all tests use, and a run whose output is TAP.
 *
 *      int main(void)
 *      {
 *          const struct CMUnitTest tests[] = {cmocka_unit_test(one), cmocka_unit_test(another)};
 *          return clv_run_tests(tests);
 *      }
 */
#ifndef TEST_H
#define TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Runs an array of tests; returns how many failed. */
#define clv_run_tests(tests)                                                                       \
    (cmocka_set_message_output(CM_OUTPUT_TAP), cmocka_run_group_tests(tests, NULL, NULL))

#endif
