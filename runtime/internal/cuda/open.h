#ifndef KERNGEN_OPEN_H
#define KERNGEN_OPEN_H

#include "driver.h"

// kg_open opens a library, or returns NULL and the loader's message.
void *kg_open(const char *library, char *message, size_t size);

// kg_bind fills kg_driver from an open library. It returns NULL, or the name of
// the first required function that the library lacks.
const char *kg_bind(void *handle);

// kg_call_name is the driver function that a status' upper half stands for.
const char *kg_call_name(uint32_t call);

#endif
