// What is still alive: memory, streams, modules, references to contexts.
#include "control.h"
#include "fake.h"

static void leak(const char *kind, uint64_t handle, uint64_t amount) {
	struct record *r = new_record(LEAKS);
	put_string(r, kind);
	put64(r, handle);
	put64(r, amount);
}

uint64_t fake_find_leaks(void) {
	pthread_mutex_lock(&lock);
	clear_records(LEAKS);
	for (int i = 0; i < MAX_DEVICES; i++) {
		int references = atomic_load(&contexts[i].references);
		if (references > 0) leak("context", (uintptr_t)&contexts[i], (uint64_t)references);
	}
	for (int i = 0; i < stream_count; i++)
		if (atomic_load(&streams[i].alive)) leak("stream", (uintptr_t)&streams[i], 1);
	for (int i = 0; i < module_count; i++)
		if (atomic_load(&modules[i].alive)) leak("module", (uintptr_t)&modules[i], 1);
	for (size_t i = 0; i < allocation_count; i++) leak("memory", allocations[i].address, allocations[i].size);
	pthread_mutex_unlock(&lock);
	return fake_count(LEAKS);
}
