// What a test asks of the fake, beside the driver's own functions. Arguments and
// results are integers and pointers only, so that one cgo function can make any
// of these calls.
#ifndef FAKE_CONTROL_H
#define FAKE_CONTROL_H

#include <stdint.h>

#include "fake.h"

// Configuration: 0 means that there is no such device or attribute.
EXPORT int fake_set_device_count(int n);
EXPORT int fake_set_driver_version(int version);
EXPORT int fake_set_name(int device, const char *name);
EXPORT int fake_set_attribute(int device, int attribute, int value);
EXPORT int fake_set_memory(int device, uint64_t bytes);
EXPORT int fake_set_peers(int on); // for good
EXPORT int fake_set_largest_cluster(int device, int ctas);

// The call after `after` more calls of that name fails; always: so do all later
// ones. The name "*" is every call's. 0: too many failures are armed.
EXPORT int fake_fail(const char *call, int code, int after, int always);

// 0: no such stream.
EXPORT int fake_set_capture(CUstream stream, int status);

// From now on what is queued on the stream is not done; off: it is. 0: no such
// stream.
EXPORT int fake_hold(CUstream stream, int on);

// Every call in the device's context returns code, until the context goes or
// code is 0. 0: no such device.
EXPORT int fake_break(int device, int code);

EXPORT int fake_record(int on);

// Forgets records, failures, captures, holds, broken devices and configuration;
// objects live on.
EXPORT int fake_reset(void);

// Records, by the kinds of fake.h. fake_read returns a record's size, and copies
// it where it fits.
EXPORT uint64_t fake_count(int kind);
EXPORT uint64_t fake_read(int kind, uint64_t i, void *buffer, uint64_t capacity);
EXPORT uint64_t fake_find_leaks(void); // fills LEAKS

#endif
