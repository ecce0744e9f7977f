//go:build cgo && linux

#include "open.h"

#include <dlfcn.h>
#include <stdio.h>

struct kg_driver kg_driver;

#define KG_NAME(name, args) #name,
static const char *const names[] = { KG_FUNCTIONS(KG_NAME, KG_NAME) };

const char *kg_call_name(uint32_t call) {
	return call < KG_FUNCTION_COUNT ? names[call] : "?";
}

void *kg_open(const char *library, char *message, size_t size) {
	void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
	if (handle == NULL) snprintf(message, size, "%s", dlerror());
	return handle;
}

const char *kg_bind(void *handle) {
#define KG_BIND(name, args) \
	*(void **)&kg_driver.name = dlsym(handle, #name);
#define KG_BIND_REQUIRED(name, args) \
	KG_BIND(name, args) \
	if (kg_driver.name == NULL) return #name;
	KG_FUNCTIONS(KG_BIND_REQUIRED, KG_BIND)
	return NULL;
}
