#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "control.h"
#include "fake.h"

static struct {
	struct record *records;
	size_t count, capacity;
} logs[RECORD_KINDS];

static void *grown(void *p, size_t size) {
	p = realloc(p, size);
	if (p == NULL) abort(); // a test machine without memory has no test to go on with
	return p;
}

struct record *new_record(int kind) {
	if (logs[kind].count == logs[kind].capacity) {
		logs[kind].capacity = logs[kind].capacity * 2 + 64;
		logs[kind].records = grown(logs[kind].records, logs[kind].capacity * sizeof(struct record));
	}
	struct record *r = &logs[kind].records[logs[kind].count++];
	*r = (struct record){0};
	return r;
}

void put(struct record *r, const void *bytes, size_t n) {
	if (n == 0) return;
	r->bytes = grown(r->bytes, r->size + n);
	memcpy(r->bytes + r->size, bytes, n);
	r->size += n;
}

void put32(struct record *r, uint32_t n) { put(r, &n, sizeof n); }
void put64(struct record *r, uint64_t n) { put(r, &n, sizeof n); }

void put_bytes(struct record *r, const void *bytes, size_t n) {
	put32(r, (uint32_t)n);
	put(r, bytes, n);
}

void put_string(struct record *r, const char *s) { put_bytes(r, s, strlen(s)); }

void clear_records(int kind) {
	for (size_t i = 0; i < logs[kind].count; i++) free(logs[kind].records[i].bytes);
	logs[kind].count = 0;
}

uint64_t thread_id(void) { return (uint64_t)syscall(SYS_gettid); }

uint64_t fake_count(int kind) {
	pthread_mutex_lock(&lock);
	size_t n = logs[kind].count;
	pthread_mutex_unlock(&lock);
	return n;
}

uint64_t fake_read(int kind, uint64_t i, void *buffer, uint64_t capacity) {
	pthread_mutex_lock(&lock);
	uint64_t size = 0;
	if (i < logs[kind].count) {
		const struct record *r = &logs[kind].records[i];
		size = r->size;
		if (size <= capacity && size > 0) memcpy(buffer, r->bytes, size);
	}
	pthread_mutex_unlock(&lock);
	return size;
}
