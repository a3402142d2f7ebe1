/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Where this process runs: its kernel, its namespaces, its link. Each rank asks once at start.
 * Host names play no part: containers share or fake them.
 *
 * Not: the part of the machine (util_topology.h), nor which processes may share memory or a clock:
 * the calling modules decide (pap_endpoint.h, clv_cs_place_discover). A few system calls.
 *
 * Units: numbers that mean nothing but equality.
 * Errors: CLV_UNSUPPORTED.
 * Memory: none.
 * Threads: safe.
 */
#ifndef CLV_UTIL_PLACE_H
#define CLV_UTIL_PLACE_H

#include <stddef.h>
#include <stdint.h>

#include "util/util_status.h"

/* A number of the running kernel, from its boot id: equal in all its containers, another one after
 * each boot. CLV_UNSUPPORTED without a boot id. */
clv_status_t clv_place_kernel(uint64_t *kernel_p) CLV_MUST_CHECK;

/* A number of this process's namespace of a kind ("time", "pid", "net"), within the kernel; 0 where
 * the kernel has none of that kind, so there is only one. */
uint64_t clv_place_namespace(const char *kind);

/* A number of the link that this process's packets leave by, never 0. Processes of one kernel and
 * one network namespace share a link, whatever their users and process namespaces: two containers
 * without their own network share it. A container with its own network has its own link, although
 * its packets may leave by the host's. CLV_UNSUPPORTED without a boot id, *link_p untouched. */
clv_status_t clv_place_link(uint64_t *link_p) CLV_MUST_CHECK;

/* place[i] for each of n links: numbers from 0 on in the order of the first of its kind. Returns
 * how many there are. O(n) where equal ones follow each other, O(n * places) at worst. */
int32_t clv_place_number_links(const uint64_t *link, int32_t n, int32_t *place);

/* Their names as the kernel gives them, for files: the boot id, and the time namespace as the link
 * in /proc says it ("time:[4026531834]"). Empty where there is none. */
void clv_place_boot_id(char *text, size_t n_bytes);
void clv_place_time_namespace(char *text, size_t n_bytes);

#endif
