/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Integer arithmetic of forecasts: exact to 2^-22, the same on every machine. Pure; any thread.
 * Values are at most CLV_PAP_MAX_SPREAD_NS or their differences, at most 2^20 of them: no sum
 * overflows.
 */
#ifndef CLV_PAP_NUMBERS_H
#define CLV_PAP_NUMBERS_H

#include <stdint.h>

uint64_t clv_pap_isqrt(uint64_t number);                      /* floor */
int64_t clv_pap_rms(const int64_t *values, int32_t n_values); /* 0 for none */
int64_t clv_pap_largest_magnitude(const int64_t *values, int32_t n_values);
int64_t clv_pap_smallest(const int64_t *values, int32_t n_values);
int64_t clv_pap_clamp_spread(int64_t value);
int64_t clv_pap_mean_magnitude(const int64_t *values, int32_t n_values);
void clv_pap_subtract_mean(int64_t *values, int32_t n_values);
void clv_pap_zero_smallest(int64_t *values, int32_t n_values);

/* Three quarters of the average plus a quarter of the newest; average -1: there is none yet. */
int64_t clv_pap_moving_average(int64_t average_ns, int64_t newest_ns);

#endif
