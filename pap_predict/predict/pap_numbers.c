/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Integer arithmetic of forecasts: exact to 2^-22, the same on every machine; see pap_numbers.h.
 */
#include "pap_predict/predict/pap_numbers.h"

#include "pap_predict/predict/pap_predictors.h"

uint64_t clv_pap_isqrt(uint64_t number)
{
    uint64_t root = 0;
    for (uint64_t bit = UINT64_C(1) << 62; bit != 0; bit >>= 2) {
        if (number >= root + bit) {
            number -= root + bit;
            root = (root >> 1) + bit;
        } else {
            root >>= 1;
        }
    }
    return root;
}

static int64_t magnitude(int64_t value)
{
    return value < 0 ? -value : value;
}

int64_t clv_pap_largest_magnitude(const int64_t *values, int32_t n_values)
{
    int64_t largest = 0;
    for (int32_t i = 0; i < n_values; i++) {
        if (magnitude(values[i]) > largest) {
            largest = magnitude(values[i]);
        }
    }
    return largest;
}

/* Squares of 22 bits, summed over at most 2^20 values, fit 64 bits. */
int64_t clv_pap_rms(const int64_t *values, int32_t n_values)
{
    int shift = 0;
    uint64_t sum = 0;
    if (n_values == 0) {
        return 0;
    }
    for (int64_t largest = clv_pap_largest_magnitude(values, n_values);
         largest >> shift >= 1 << 22;) {
        shift++;
    }
    for (int32_t i = 0; i < n_values; i++) {
        uint64_t small = (uint64_t) magnitude(values[i]) >> shift;
        sum += small * small;
    }
    return (int64_t) (clv_pap_isqrt(sum / (uint64_t) n_values) << shift);
}

int64_t clv_pap_clamp_spread(int64_t value)
{
    if (value > CLV_PAP_MAX_SPREAD_NS) {
        return CLV_PAP_MAX_SPREAD_NS;
    }
    return value < -CLV_PAP_MAX_SPREAD_NS ? -CLV_PAP_MAX_SPREAD_NS : value;
}

int64_t clv_pap_mean_magnitude(const int64_t *values, int32_t n_values)
{
    int64_t sum = 0;
    for (int32_t i = 0; i < n_values; i++) {
        sum += magnitude(values[i]);
    }
    return sum / n_values;
}

int64_t clv_pap_smallest(const int64_t *values, int32_t n_values)
{
    int64_t smallest = values[0];
    for (int32_t i = 1; i < n_values; i++) {
        if (values[i] < smallest) {
            smallest = values[i];
        }
    }
    return smallest;
}

/* At most 2^20 values of at most 2^42 or their differences: the sum fits. */
void clv_pap_subtract_mean(int64_t *values, int32_t n_values)
{
    int64_t sum = 0;
    for (int32_t i = 0; i < n_values; i++) {
        sum += values[i];
    }
    for (int32_t i = 0; i < n_values; i++) {
        values[i] -= sum / n_values;
    }
}

void clv_pap_zero_smallest(int64_t *values, int32_t n_values)
{
    int64_t smallest = clv_pap_smallest(values, n_values);
    for (int32_t i = 0; i < n_values; i++) {
        values[i] = clv_pap_clamp_spread(values[i] - smallest);
    }
}

int64_t clv_pap_moving_average(int64_t average_ns, int64_t newest_ns)
{
    return average_ns < 0 ? newest_ns : (3 * average_ns + newest_ns) / 4;
}
