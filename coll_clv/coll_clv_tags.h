/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Tags of this component's messages other than those of its plans. One list, so that no two are
 * alike: between the tags of users (0 and up) and those of Open MPI's collectives (-7 and
 * down).
 */
#ifndef COLL_CLV_TAGS_H
#define COLL_CLV_TAGS_H

enum {
    COLL_CLV_TAG_RELAY = -6, /* coll_clv_relay.h: the agreement's messages over MPI */
    COLL_CLV_TAG_CREDIT,     /* coll_clv_ahead.h: credit */
    COLL_CLV_TAG_GATHER,     /* coll_clv_gather.h: set-up */
    COLL_CLV_TAG_COMPARE,    /* coll_clv_compare.h: what other ranks passed */
};

#endif
