// The yardstick: what a C program does to launch a kernel, with nothing of
// kerngen in between.
#ifndef CLOOP_H
#define CLOOP_H

#include <stdint.h>

typedef struct cloop cloop;

// cloop_new loads a cubin's kernel in the primary context of a device. It
// returns NULL and the name of what failed in *failed.
cloop *cloop_new(const char *library, int ordinal, const void *cubin, const char *symbol, const char **failed);

// cloop_launches makes count launches of one CTA of so many threads on a stream and returns the
// nanoseconds that took on the host, or -1. params is the array of pointers that the driver takes.
int64_t cloop_launches(cloop *c, uintptr_t stream, unsigned threads, unsigned shared, void **params, int64_t count);

// cloop_enter makes the context current on this thread, for cloop_one. It returns 0.
int cloop_enter(cloop *c);

// cloop_one makes one launch.
int cloop_one(cloop *c, uintptr_t stream, unsigned threads, unsigned shared, void **params);

// cloop_threads does the same on one thread for each stream, all starting
// together, and waits for each stream: nanoseconds from start to end, or -1.
int64_t cloop_threads(cloop *c, const uintptr_t *streams, int n, unsigned threads, unsigned shared, void **params, int64_t count);

// cloop_map encodes the tensor map of a matrix of 16-bit floats without padding, to be
// loaded in boxes of the rows and columns given, swizzled. It returns the driver's result.
int cloop_map(cloop *c, uint64_t address, uint64_t rows, uint64_t cols, unsigned box_rows, unsigned box_cols,
	int swizzle, void *map);

// For other files in C: a function of the driver's, the kernel, and nanoseconds.
void *cloop_symbol(cloop *c, const char *name);
void *cloop_function(cloop *c);
int64_t cloop_now(void);

#endif
