// Sets of nodes.
#include <stdlib.h>

#include "operation.h"

bool includes(const struct nodes *set, const struct node *n) {
	for (size_t i = 0; i < set->count; i++)
		if (set->list[i] == n) return true;
	return false;
}

static void add(struct nodes *set, struct node *n) {
	if (includes(set, n)) return;
	set->list = realloc(set->list, (set->count + 1) * sizeof *set->list);
	if (set->list == NULL) abort();
	set->list[set->count++] = n;
}

void include(struct nodes *set, const struct nodes *more) {
	for (size_t i = 0; i < more->count; i++) add(set, more->list[i]);
}

void replace(struct nodes *set, struct node *only) {
	set->count = 0;
	if (only != NULL) {
		add(set, only);
		return;
	}
	free(set->list);
	set->list = NULL;
}
