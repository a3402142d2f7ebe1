/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The nearest name (see util_near.h).
 */
#include "util/util_near.h"

#include <stdbool.h>
#include <string.h>

#include "util/util_min_max.h"

#define LEAST_PART 3 /* letters; a shorter part matches by chance */
#define SHARE      3 /* letters of a word per change that is allowed */

/* Rows of the table of edit distances, for the newest three i. An entry is the number of changes
 * that turn the first i letters of a into the first j of b. */
typedef struct rows {
    int row[3][CLV_NEAR_BYTES + 1];
} rows_t;

static int changes_at(const rows_t *rows, const char *a, const char *b, size_t i, size_t j)
{
    const int *before = rows->row[(i + 2) % 3], *here = rows->row[i % 3];
    int least = before[j - 1] + (a[i - 1] != b[j - 1]);

    least = (int) clv_smaller(least, clv_smaller(before[j], here[j - 1]) + 1);
    if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        least = (int) clv_smaller(least, rows->row[(i + 1) % 3][j - 2] + 1);
    }
    return least;
}

static int changes(const char *a, size_t n_a, const char *b, size_t n_b)
{
    rows_t rows;

    for (size_t j = 0; j <= n_b; j++) {
        rows.row[0][j] = (int) j;
    }
    for (size_t i = 1; i <= n_a; i++) {
        rows.row[i % 3][0] = (int) i;
        for (size_t j = 1; j <= n_b; j++) {
            rows.row[i % 3][j] = changes_at(&rows, a, b, i, j);
        }
    }
    return rows.row[n_a % 3][n_b];
}

static bool contains(const char *text, size_t n_text, const char *part, size_t n_part)
{
    for (size_t at = 0; n_part >= LEAST_PART && at + n_part <= n_text; at++) {
        if (memcmp(text + at, part, n_part) == 0) {
            return true;
        }
    }
    return false;
}

const char *clv_near(const char *word, size_t length, const char *const *names, size_t n_names)
{
    const char *nearest = NULL, *related = NULL;
    int least = 0;

    for (size_t k = 0; k < n_names && length <= CLV_NEAR_BYTES; k++) {
        const size_t n = strlen(names[k]);
        const int n_changes = n <= CLV_NEAR_BYTES ? changes(word, length, names[k], n) : 0;

        if (n > CLV_NEAR_BYTES) {
            continue;
        }
        if (nearest == NULL || n_changes < least) {
            nearest = names[k];
            least = n_changes;
        }
        if (related == NULL &&
            (contains(names[k], n, word, length) || contains(word, length, names[k], n))) {
            related = names[k];
        }
    }
    return nearest != NULL && SHARE * (size_t) least <= length ? nearest : related;
}
