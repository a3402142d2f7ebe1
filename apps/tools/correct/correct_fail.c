/* SPDX-License-Identifier: BSD-3-Clause
 *
 * clv-correct: the first failure, as one line.
 */
#include "apps/tools/correct/correct.h"

#include <otf2/otf2.h>
#include <pthread.h>
#include <stdarg.h>
#include <string.h>

#include "util/util_text.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int failed_status;
static char line[512], otf2_words[256];

bool correct_fail(int status, const char *format, ...)
{
    va_list arguments;
    pthread_mutex_lock(&mutex);
    if (!failed_status) {
        failed_status = status;
        va_start(arguments, format);
        vsnprintf(line, sizeof line, format, arguments);
        va_end(arguments);
        clv_text_make_plain(line); /* names of files and hosts hold any bytes */
    }
    pthread_mutex_unlock(&mutex);
    return false;
}

bool correct_fail_as(int status, const char *text)
{
    pthread_mutex_lock(&mutex);
    failed_status = status;
    snprintf(line, sizeof line, "%s", text);
    pthread_mutex_unlock(&mutex);
    return false;
}

int correct_failed(void)
{
    pthread_mutex_lock(&mutex);
    const int status = failed_status;
    pthread_mutex_unlock(&mutex);
    return status;
}

const char *correct_failure(void)
{
    return line;
}

/* The library's first message gives the cause; later ones come from its callers. */
static OTF2_ErrorCode take_words(void *user, const char *file, uint64_t number,
                                 const char *function, OTF2_ErrorCode code, const char *format,
                                 va_list arguments)
{
    (void) user;
    (void) file;
    (void) number;
    (void) function;
    pthread_mutex_lock(&mutex);
    if (code > 0 && !otf2_words[0]) {
        const int n =
            snprintf(otf2_words, sizeof otf2_words, "%s: ", OTF2_Error_GetDescription(code));
        if (n > 0 && (size_t) n < sizeof otf2_words) {
            vsnprintf(otf2_words + n, sizeof otf2_words - (size_t) n, format, arguments);
        }
        otf2_words[strcspn(otf2_words, "\n")] = '\0';
    }
    pthread_mutex_unlock(&mutex);
    return code;
}

void correct_catch_otf2(void)
{
    OTF2_Error_RegisterCallback(take_words, NULL);
}

const char *correct_otf2_words(void)
{
    return otf2_words[0] ? otf2_words : "the OTF2 library gave no reason";
}
