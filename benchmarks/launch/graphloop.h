// A graph made, launched and changed by a C program, with nothing of kerngen in
// between.
#ifndef GRAPHLOOP_H
#define GRAPHLOOP_H

#include "cloop.h"

typedef struct graphloop graphloop;

// graphloop_new captures a chain of so many launches, as cloop_launches makes
// them, and instantiates it. It returns NULL and the name of what failed.
graphloop *graphloop_new(cloop *c, uintptr_t stream, unsigned threads, unsigned shared, void **params, int launches,
	const char **failed);

// graphloop_launches launches the graph count times and returns the nanoseconds
// that took on the host, or -1.
int64_t graphloop_launches(graphloop *g, uintptr_t stream, int64_t count);

// graphloop_updates gives the last launch the same arguments again, count times;
// nanoseconds, or -1.
int64_t graphloop_updates(graphloop *g, int64_t count);

#endif
