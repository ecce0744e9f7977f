// What an image says about itself, read here in C so that the tests of the Go
// reader have a witness of their own.
#ifndef FAKE_IMAGE_H
#define FAKE_IMAGE_H

#include <stdbool.h>
#include <stddef.h>

#include "driver.h"

enum { MAX_PARAMS = 1024 };

struct kernel {
	char *name;
	unsigned param_count;
	struct param {
		unsigned offset, size; // bytes
	} params[MAX_PARAMS];
	unsigned block[3];         // required; 0: any
	unsigned max_threads;      // per CTA; 0: the device's
	unsigned cluster[3];       // required; 0: any
	bool explicit_cluster;     // a launch must name it
	unsigned static_shared;    // bytes
	unsigned registers;        // per thread; 0: unknown
};

struct image {
	bool ptx;
	unsigned isa;    // of PTX: 87 is 8.7
	unsigned target; // 90 is sm_90
	char suffix;     // 'a': that very architecture only; 'f': its family; 0: what follows too
	unsigned kernel_count;
	struct kernel *kernels;
};

// Either fills an empty image, which the caller frees also after a failure.
CUresult read_cubin(const unsigned char *bytes, struct image *image);
CUresult read_ptx(const char *text, struct image *image);
void free_image(struct image *image);

struct kernel *add_kernel(struct image *image, const char *name, size_t length);

#endif
