// What can be queued on a stream, and so be a node of a graph.
#ifndef FAKE_OPERATION_H
#define FAKE_OPERATION_H

#include "fake.h"

struct copy {
	uint64_t to, from; // addresses of the device's or the host's
	bool to_host, from_host;
	size_t width, rows, to_pitch, from_pitch; // bytes; the pitches are 0 for one row
};

struct fill {
	CUdeviceptr to;
	uint32_t value;
	unsigned size; // of the value, bytes
	size_t count;
};

struct launch {
	const struct function *function;
	CUlaunchConfig config; // of a node: its stream is NULL
	void **params;
};

struct operation {
	int type; // a NODE_ number
	union {
		struct launch launch;
		struct copy copy;
		struct fill fill;
		CUdeviceptr memory; // allocated or freed
	};
};

// All with the lock held.

// submit does the operation, or makes it a node where the stream is captured.
CUresult submit(CUstream stream, const struct operation *op);
CUresult perform(CUstream stream, const struct operation *op, const struct exec *exec);
void put_operation(struct record *r, const struct operation *op, CUstream stream, const struct exec *exec);

// launch.c
CUresult check_replay(const struct launch *l);
struct launch copy_launch(const struct launch *l); // to be freed by free_launch
void free_launch(struct launch *l);
void record_launch(const struct launch *l, CUstream stream, const struct exec *exec);
void put_launch(struct record *r, const struct launch *l, CUstream stream, const struct exec *exec);

// copy.c
CUresult check_copy(const struct copy *c);
void do_copy(const struct copy *c);
void put_copy(struct record *r, const struct copy *c, CUstream stream, const struct exec *exec);
CUresult check_fill(const struct fill *f);
void do_fill(const struct fill *f);
void put_fill(struct record *r, const struct fill *f, CUstream stream, const struct exec *exec);

// graph.c
struct graph *new_graph(struct context *c); // NULL: too many
void destroy_graph(struct graph *g);
CUresult add_node(struct graph *g, CUstream stream, const struct operation *op);
bool all_follow(const struct nodes *last, const struct nodes *first); // last includes or follows all of first

// nodes.c: sets
void include(struct nodes *set, const struct nodes *more);
void replace(struct nodes *set, struct node *only); // NULL: by none
bool includes(const struct nodes *set, const struct node *n);

#endif
