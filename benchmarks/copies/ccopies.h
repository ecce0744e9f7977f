#ifndef CCOPIES_H
#define CCOPIES_H

#include <stdint.h>

typedef struct ccopies ccopies;

// One direction's copy of a stream: bytes between device memory and pinned memory.
typedef struct {
	uintptr_t stream;
	uint64_t device;
	void *host;
	uint64_t bytes;
	int in;  // to the device first
	int out; // from the device, afterwards
} ccopy;

// ccopies_new binds the driver's functions; NULL, and what failed, if it cannot.
ccopies *ccopies_new(const char *library, int ordinal, const char **failed);

// ccopies_run makes count rounds of copies on each stream, one thread each, and
// returns the nanoseconds until all are done; -1 if one fails.
int64_t ccopies_run(ccopies *c, const ccopy *copies, int n, int64_t count);

#endif
