/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A component of Open MPI's accelerator framework, as 5.0 and 6.0 have it, for a machine without
 * one: its device is fake_device.h's. Copies are done at once, so streams and events are always
 * ready.
 */
#include "opal_config.h"

#include <stdlib.h>
#include <string.h>

#include "opal/constants.h"
#include "opal/mca/accelerator/accelerator.h"
#include "opal/mca/accelerator/base/base.h"

#include "tests/versions/fake_device.h"

static int check_addr(const void *address, int *device, uint64_t *flags)
{
    *device = 0;
    *flags = 0;
    return fake_device_has(address);
}

static int create_stream(int device, opal_accelerator_stream_t **stream)
{
    (void) device;
    *stream = OBJ_NEW(opal_accelerator_stream_t);
    return OPAL_SUCCESS;
}

static int make_event(opal_accelerator_event_t **event)
{
    *event = OBJ_NEW(opal_accelerator_event_t);
    return OPAL_SUCCESS;
}

static int record_event(int device, opal_accelerator_event_t *event,
                        opal_accelerator_stream_t *stream)
{
    (void) device, (void) event, (void) stream;
    return OPAL_SUCCESS;
}

static int query_event(int device, opal_accelerator_event_t *event)
{
    (void) device, (void) event;
    return OPAL_SUCCESS;
}

static int copy(int to_device, int from_device, void *to, const void *from, size_t size,
                opal_accelerator_transfer_type_t type)
{
    (void) to_device, (void) from_device, (void) type;
    memmove(fake_device_open(to), fake_device_open(from), size);
    return OPAL_SUCCESS;
}

static int copy_async(int to_device, int from_device, void *to, const void *from, size_t size,
                      opal_accelerator_stream_t *stream, opal_accelerator_transfer_type_t type)
{
    (void) stream;
    return copy(to_device, from_device, to, from, size, type);
}

static int mem_alloc(int device, void **memory, size_t size)
{
    (void) device;
    *memory = malloc(size);
    return *memory == NULL ? OPAL_ERR_OUT_OF_RESOURCE : OPAL_SUCCESS;
}

static int mem_release(int device, void *memory)
{
    (void) device;
    free(memory);
    return OPAL_SUCCESS;
}

static int get_address_range(int device, const void *address, void **base, size_t *size)
{
    (void) device, (void) address;
    *base = (void *) (uintptr_t) FAKE_DEVICE_BASE;
    *size = FAKE_DEVICE_BYTES;
    return OPAL_SUCCESS;
}

static int host_register(int device, void *memory, size_t size)
{
    (void) device, (void) memory, (void) size;
    return OPAL_SUCCESS;
}

static int host_unregister(int device, void *memory)
{
    (void) device, (void) memory;
    return OPAL_SUCCESS;
}

static int get_device(int *device)
{
    *device = 0;
    return OPAL_SUCCESS;
}

static int get_device_pci_attr(int device, opal_accelerator_pci_attr_t *attributes)
{
    (void) device, (void) attributes;
    return OPAL_ERR_NOT_IMPLEMENTED;
}

static int device_can_access_peer(int *access, int one, int other)
{
    *access = one == other;
    return OPAL_SUCCESS;
}

static int get_buffer_id(int device, const void *address, opal_accelerator_buffer_id_t *id)
{
    (void) device, (void) address;
    *id = 0;
    return OPAL_SUCCESS;
}

#if OPAL_MAJOR_VERSION >= 6
static int create_event(int device, opal_accelerator_event_t **event, bool enable_ipc)
{
    (void) device, (void) enable_ipc;
    return make_event(event);
}

static int sync_stream(opal_accelerator_stream_t *stream)
{
    (void) stream;
    return OPAL_SUCCESS;
}

static int mem_alloc_stream(int device, void **memory, size_t size,
                            opal_accelerator_stream_t *stream)
{
    (void) stream;
    return mem_alloc(device, memory, size);
}

static int mem_release_stream(int device, void *memory, opal_accelerator_stream_t *stream)
{
    (void) stream;
    return mem_release(device, memory);
}

static bool is_ipc_enabled(void)
{
    return false;
}

static int num_devices(int *n)
{
    *n = 1;
    return OPAL_SUCCESS;
}

static int get_mem_bw(int device, float *gigabytes_per_s)
{
    (void) device;
    *gigabytes_per_s = 1;
    return OPAL_SUCCESS;
}
#else
static int create_event(int device, opal_accelerator_event_t **event)
{
    (void) device;
    return make_event(event);
}
#endif

static opal_accelerator_base_module_t module = {.check_addr = check_addr,
                                                .create_stream = create_stream,
                                                .create_event = create_event,
                                                .record_event = record_event,
                                                .query_event = query_event,
                                                .mem_copy_async = copy_async,
                                                .mem_copy = copy,
                                                .mem_move = copy,
                                                .mem_alloc = mem_alloc,
                                                .mem_release = mem_release,
                                                .get_address_range = get_address_range,
                                                .host_register = host_register,
                                                .host_unregister = host_unregister,
                                                .get_device = get_device,
                                                .get_device_pci_attr = get_device_pci_attr,
                                                .device_can_access_peer = device_can_access_peer,
#if OPAL_MAJOR_VERSION >= 6
                                                .sync_stream = sync_stream,
                                                .wait_event = record_event, /* as little to do */
                                                .mem_alloc_stream = mem_alloc_stream,
                                                .mem_release_stream = mem_release_stream,
                                                .is_ipc_enabled = is_ipc_enabled,
                                                .num_devices = num_devices,
                                                .get_mem_bw = get_mem_bw,
#endif
                                                .get_buffer_id = get_buffer_id};

static opal_accelerator_base_module_t *init(void)
{
    return &module;
}

static void finalize(opal_accelerator_base_module_t *which)
{
    (void) which;
}

OPAL_DECLSPEC extern opal_accelerator_base_component_t mca_accelerator_fake_component;
opal_accelerator_base_component_t mca_accelerator_fake_component = {
    .base_version = {OPAL_ACCELERATOR_BASE_VERSION_1_0_0, .mca_component_name = "fake",
                     MCA_BASE_MAKE_VERSION(component, OPAL_MAJOR_VERSION, OPAL_MINOR_VERSION,
                                           OPAL_RELEASE_VERSION)},
    .base_data = {MCA_BASE_METADATA_PARAM_CHECKPOINT},
    .accelerator_init = init,
    .accelerator_finalize = finalize};
