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

enum { MAX_DEVICES = 16, MAX_STREAMS = 1 << 16, MAX_MODULES = 1 << 16, MAX_FUNCTIONS = 1 << 16, MAX_EVENTS = 1 << 16 };

struct context { // a device's primary context
	atomic_int references;
	atomic_int broken; // the error that every call returns; 0: none
};

// What holds work up: a stream's hold, by its number. None where stream is NULL.
struct hold {
	const struct stream *stream;
	uint64_t number;
};

struct nodes { // of a graph, each once
	struct node **list;
	size_t count;
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
	int priority;
	atomic_int capture;      // a CAPTURE_ status
	struct capture *in;      // NULL also where a test has set the status
	struct nodes tail;       // what the next captured node follows
	bool held;
	uint64_t hold_number;
	struct hold behind; // of an event that was waited for
};

struct event {
	bool alive, recorded;
	struct context *context;
	unsigned flags;
	uint64_t time;     // microseconds
	struct hold hold;  // of the stream when it was recorded
	uint64_t capture;  // that it was last recorded in, by its number; 0: none
	struct nodes tail; // of the stream then
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
extern struct event events[MAX_EVENTS];
extern int stream_count, module_count, event_count;
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
CUresult enter_stream(CUstream s, struct context **c);      // for work on s; sets the current context
struct hold hold_of(CUstream s);
bool pending(struct hold h);
CUresult wait_for(struct hold h, struct context *c); // with the lock held
void release_holds(void);
void destroy_streams(const struct context *c);

// event.c
void destroy_events(const struct context *c);

// capture.c
static inline int capture_of(CUstream s) {
	return IN_SLOTS(s, streams) ? atomic_load_explicit(&s->capture, memory_order_relaxed) : CAPTURE_NONE;
}

CUresult refuse_in_capture(void);                 // for calls that are unsafe while a capture goes on
CUresult refuse_captured(CUstream s);             // for calls that are refused in any mode; spoils s's capture
void spoil(struct stream *s);                     // its capture, with the lock held
void leave_capture(struct stream *s);             // as it is destroyed, with the lock held
struct graph *graph_of(CUstream s);               // that s is captured into, with the lock held; NULL: none
uint64_t capture_number(CUstream s);              // 0: none
struct stream *stream_in(uint64_t capture);       // any stream that is still in the capture
void join_capture(struct stream *s, struct stream *other, const struct nodes *tail);
void end_captures(void);

// memory.c
struct allocation {
	uint64_t address, size;
	struct context *context;
	struct pool *pool;   // NULL: none
	struct graph *graph; // that allocates it; NULL: none
};
extern struct allocation *allocations;
extern size_t allocation_count;
bool in_bounds(CUdeviceptr address, size_t size);
void free_allocations(const struct context *c);
void free_graph_memory(const struct graph *g);

// pool.c
bool reserve(struct pool *p, size_t size, struct device *d); // room for size more bytes
void unreserve(struct pool *p, size_t size);
bool is_pool(const struct pool *p, const struct context *c);
void trim_pools(const struct context *c); // as a synchronisation does
void destroy_pools(const struct context *c);
void find_pool_leaks(void);

// host.c
const struct allocation *pinned_at(uint64_t address);
bool pinned(uint64_t address, size_t size);
void free_pinned(const struct context *c);
void find_pinned_leaks(void);

// graph.c
void destroy_graphs(const struct context *c);
void find_graph_leaks(void);

// leaks.c
void leak(const char *kind, const void *handle, uint64_t amount);

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
enum { CALLS, LAUNCHES, LOADS, LEAKS, COPIES, FILLS, EVENTS, NODES, ENCODINGS, RECORD_KINDS };
struct record *new_record(int kind);
void put(struct record *r, const void *bytes, size_t n);
static inline bool recording(void) { return atomic_load_explicit(&special, memory_order_relaxed) & RECORDING; }
void put32(struct record *r, uint32_t n);
void put64(struct record *r, uint64_t n);
void put_bytes(struct record *r, const void *bytes, size_t n); // with their length before them
void put_string(struct record *r, const char *s);
void clear_records(int kind);
uint64_t thread_id(void);

#endif
