// Pinned memory of the host.
#include <stdlib.h>
#include <string.h>

#include "fake.h"

enum { PAGE = 4096, FLAGS = 7 };

static struct allocation *blocks;
static size_t block_count;

const struct allocation *pinned_at(uint64_t address) {
	for (size_t i = 0; i < block_count; i++)
		if (address - blocks[i].address < blocks[i].size) return &blocks[i];
	return NULL;
}

bool pinned(uint64_t address, size_t size) {
	const struct allocation *b = pinned_at(address);
	return b != NULL && size <= b->size - (address - b->address);
}

static void drop(size_t i) {
	free((void *)(uintptr_t)blocks[i].address);
	blocks[i] = blocks[--block_count];
}

void free_pinned(const struct context *c) {
	for (size_t i = block_count; i-- > 0;)
		if (blocks[i].context == c) drop(i);
}

void find_pinned_leaks(void) {
	for (size_t i = 0; i < block_count; i++) leak("pinned", (const void *)(uintptr_t)blocks[i].address, blocks[i].size);
}

EXPORT CUresult cuMemHostAlloc(void **memory, size_t size, unsigned flags) {
	ENTER();
	struct context *c;
	TRY(current_context(&c));
	TRY(refuse_in_capture());
	if (memory == NULL || size == 0 || flags > FLAGS) return CUDA_ERROR_INVALID_VALUE;
	if (size > SIZE_MAX - PAGE) return CUDA_ERROR_OUT_OF_MEMORY;
	void *p = aligned_alloc(PAGE, (size + PAGE - 1) / PAGE * PAGE);
	if (p == NULL) return CUDA_ERROR_OUT_OF_MEMORY;
	memset(p, 0xcb, size < PAGE ? size : PAGE);
	pthread_mutex_lock(&lock);
	blocks = realloc(blocks, (block_count + 1) * sizeof *blocks);
	if (blocks == NULL) abort();
	blocks[block_count++] = (struct allocation){.address = (uintptr_t)p, .size = size, .context = c};
	pthread_mutex_unlock(&lock);
	*memory = p;
	return CUDA_SUCCESS;
}

EXPORT CUresult cuMemFreeHost(void *memory) {
	ENTER();
	struct context *c;
	TRY(current_context(&c));
	TRY(refuse_in_capture());
	pthread_mutex_lock(&lock);
	const struct allocation *b = pinned_at((uintptr_t)memory);
	bool known = b != NULL && b->address == (uintptr_t)memory;
	if (known) drop((size_t)(b - blocks));
	pthread_mutex_unlock(&lock);
	return known ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
