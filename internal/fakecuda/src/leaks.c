// What is still alive: references to contexts, and everything made in them.
#include "control.h"
#include "fake.h"

void leak(const char *kind, const void *handle, uint64_t amount) {
	struct record *r = new_record(LEAKS);
	put_string(r, kind);
	put64(r, (uintptr_t)handle);
	put64(r, amount);
}

uint64_t fake_find_leaks(void) {
	pthread_mutex_lock(&lock);
	clear_records(LEAKS);
	for (int i = 0; i < MAX_DEVICES; i++) {
		int references = atomic_load(&contexts[i].references);
		if (references > 0) leak("context", &contexts[i], (uint64_t)references);
	}
	for (int i = 0; i < stream_count; i++)
		if (atomic_load(&streams[i].alive)) leak("stream", &streams[i], 1);
	for (int i = 0; i < module_count; i++)
		if (atomic_load(&modules[i].alive)) leak("module", &modules[i], 1);
	for (size_t i = 0; i < allocation_count; i++) {
		if (allocations[i].graph != NULL) continue; // the graph's
		leak("memory", (const void *)(uintptr_t)allocations[i].address, allocations[i].size);
	}
	for (int i = 0; i < event_count; i++)
		if (events[i].alive) leak("event", &events[i], 1);
	find_pinned_leaks();
	find_pool_leaks();
	find_graph_leaks();
	pthread_mutex_unlock(&lock);
	return fake_count(LEAKS);
}
