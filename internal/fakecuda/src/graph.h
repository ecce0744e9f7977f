// What the files about graphs share.
#ifndef FAKE_GRAPH_H
#define FAKE_GRAPH_H

#include "operation.h"

struct graph {
	bool alive;
	struct context *context;
	struct nodes nodes; // in the order they were captured in, so each after those it follows
	int execs;          // alive
};

struct node {
	struct graph *graph;
	struct operation op;
	struct nodes after;
};

bool is_graph(const struct graph *g);
bool is_node(const struct node *n);
void forget_exec(struct graph *g);

// exec.c
void destroy_execs(const struct context *c);
void find_exec_leaks(void);

#endif
