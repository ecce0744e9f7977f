#include "image.h"

#include <stdlib.h>
#include <string.h>

struct kernel *add_kernel(struct image *image, const char *name, size_t length) {
	struct kernel *kernels = realloc(image->kernels, (image->kernel_count + 1) * sizeof *kernels);
	char *copy = malloc(length + 1);
	if (kernels == NULL || copy == NULL) abort();
	memcpy(copy, name, length);
	copy[length] = 0;
	image->kernels = kernels;
	struct kernel *k = &kernels[image->kernel_count++];
	memset(k, 0, sizeof *k);
	k->name = copy;
	return k;
}

void free_image(struct image *image) {
	for (unsigned i = 0; i < image->kernel_count; i++) free(image->kernels[i].name);
	free(image->kernels);
	*image = (struct image){0};
}
