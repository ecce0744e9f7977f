// What the files of the fake share. One lock guards all state; what a launch
// reads with recording off is atomic instead, so that launches can be timed.
#ifndef FAKE_H
#define FAKE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "driver.h"

// The driver that is played: functions that came later are left out.
#ifndef FAKE_VERSION
#define FAKE_VERSION 13000
#endif

#define EXPORT __attribute__((visibility("default")))

enum { MAX_DEVICES = 16, MAX_STREAMS = 1 << 16, MAX_MODULES = 1 << 16, MAX_FUNCTIONS = 1 << 16 };

struct context { // a device's primary context
	atomic_int references;
};

struct device {
	char name[256];
	CUuuid uuid;
	atomic_int attributes[DEVICE_ATTRIBUTES];
	atomic_int largest_cluster; // CTAs, where a function allows more than 8
	uint64_t memory, used;      // bytes
};

struct stream {
	atomic_bool alive;
	struct context *context;
	atomic_int capture;
};

struct module {
	atomic_bool alive;
	struct context *context;
	uint32_t number; // of its load, from 1
	struct image *image;
	struct function *functions; // one per kernel of the image
};

struct function {
	struct module *module;
	const struct kernel *kernel;
	atomic_int max_dynamic_shared;
	atomic_int carveout;
	atomic_int non_portable_cluster;
	atomic_int scheduling_policy;
};

// Handles are addresses of slots. A slot is used once, so that a handle whose
// object is gone never becomes another's.
extern struct device devices[MAX_DEVICES];
extern struct context contexts[MAX_DEVICES];
extern struct stream streams[MAX_STREAMS];
extern struct module modules[MAX_MODULES];
extern struct function functions[MAX_FUNCTIONS];
extern int stream_count, module_count;
extern atomic_int device_count, driver_version;
extern pthread_mutex_t lock;

static inline bool in_slots(const void *p, const void *slots, size_t n, size_t size) {
	uintptr_t offset = (uintptr_t)p - (uintptr_t)slots;
	return offset < n * size && offset % size == 0;
}
#define IN_SLOTS(p, slots) in_slots(p, slots, sizeof(slots) / sizeof((slots)[0]), sizeof((slots)[0]))

static inline int device_of(const struct context *c) { return (int)(c - contexts); }

// calls.c: what every driver function does first.
enum { RECORDING = 1, FAILING = 2, UNINITIALISED = 4 };
extern atomic_uint special; // 0: enter has nothing to do

CUresult enter_special(const char *call, bool before_init);

static inline CUresult enter(const char *call, bool before_init) {
	return atomic_load_explicit(&special, memory_order_relaxed) == 0 ? CUDA_SUCCESS : enter_special(call, before_init);
}

#define TRY(expression) \
	do { \
		CUresult result_ = (expression); \
		if (result_ != CUDA_SUCCESS) return result_; \
	} while (0)
#define ENTER() TRY(enter(__func__, false))

// device.c
void reset_devices(void);
struct context *current(void);                   // on this thread; may be NULL
CUresult current_context(struct context **out);  // refuses none and a destroyed one

// stream.c
CUresult check_stream(CUstream s, const struct context *c); // of c and alive
CUresult refuse_in_capture(bool also_relaxed);              // for calls that a capture forbids

static inline int capture_of(CUstream s) {
	return IN_SLOTS(s, streams) ? atomic_load_explicit(&s->capture, memory_order_relaxed) : CAPTURE_NONE;
}

void end_captures(void);
void destroy_streams(const struct context *c);

// memory.c
struct allocation {
	uint64_t address, size;
	struct context *context;
};
extern struct allocation *allocations;
extern size_t allocation_count;
void free_allocations(const struct context *c);

// module.c
void unload_modules(const struct context *c);

// launch.c
struct kernel;
int most_threads(const struct device *d, const struct kernel *k); // per CTA

// record.c: growing lists of byte strings that the Go side reads.
struct record {
	unsigned char *bytes;
	size_t size;
};
enum { CALLS, LAUNCHES, LOADS, LEAKS, RECORD_KINDS };
struct record *new_record(int kind);
void put(struct record *r, const void *bytes, size_t n);
void put32(struct record *r, uint32_t n);
void put64(struct record *r, uint64_t n);
void put_bytes(struct record *r, const void *bytes, size_t n); // with their length before them
void put_string(struct record *r, const char *s);
void clear_records(int kind);
uint64_t thread_id(void);

#endif
