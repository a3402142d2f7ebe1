/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The message of clv-view if built without OTF2 (see view.h and view_otf2.c).
 */
#include "apps/tools/view/view.h"

int view_export_otf2(const view_t *view, const char *folder)
{
    (void) view;
    (void) folder;
    fprintf(stderr, "clv-view: built without OTF2 (Debian: libopen-trace-format2-dev)\n");
    return 2;
}
