// Modules and their functions.
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fake.h"
#include "image.h"

struct module modules[MAX_MODULES];
struct function functions[MAX_FUNCTIONS];
int module_count;
static int function_count;

static int attribute(const struct context *c, int a) { return atomic_load(&devices[device_of(c)].attributes[a]); }

// The newest PTX that a driver of this CUDA version compiles, as 10*major+minor.
static unsigned newest_isa(int version) {
	int major = version / 1000, minor = version % 1000 / 10;
	if (major == 12) return (unsigned)(80 + (minor <= 5 ? minor : minor == 6 ? 5 : minor - 1));
	return (unsigned)((major - 4) * 10 + minor);
}

// NULL: the image runs on the device; else why not.
static const char *refusal(const struct image *image, const struct context *c, CUresult *result) {
	int major = attribute(c, DEVICE_COMPUTE_CAPABILITY_MAJOR), minor = attribute(c, DEVICE_COMPUTE_CAPABILITY_MINOR);
	unsigned target = image->target, device = (unsigned)(major * 10 + minor);
	*result = image->ptx ? CUDA_ERROR_INVALID_PTX : CUDA_ERROR_NO_BINARY_FOR_GPU;
	if (image->ptx && image->isa > newest_isa(atomic_load(&driver_version))) {
		*result = CUDA_ERROR_UNSUPPORTED_PTX_VERSION;
		return "the PTX version is newer than the driver";
	}
	if (target > device) return "the target is newer than the device";
	if (image->suffix == 'a' && target != device) return "the target runs on its very architecture only";
	if ((!image->ptx || image->suffix == 'f') && target / 10 != device / 10) return "the target is of another family";
	*result = CUDA_SUCCESS;
	return NULL;
}

static void write_log(unsigned n, const int *options, void **values, const char *text) {
	int buffer = -1, size = -1;
	for (unsigned i = 0; i < n; i++) {
		if (options[i] == JIT_ERROR_LOG_BUFFER) buffer = (int)i;
		if (options[i] == JIT_ERROR_LOG_BUFFER_SIZE) size = (int)i;
	}
	if (buffer < 0 || size < 0) return;
	size_t capacity = (uintptr_t)values[size];
	if (capacity == 0) return;
	int written = snprintf(values[buffer], capacity, "fake driver: %s", text);
	values[size] = (void *)(uintptr_t)((size_t)written < capacity ? (size_t)written : capacity - 1);
}

static void record_load(const struct module *m, unsigned n, const int *options, void *const *values) {
	if (!(atomic_load(&special) & RECORDING)) return;
	struct record *r = new_record(LOADS);
	put32(r, m->number);
	put64(r, (uintptr_t)m->context);
	put32(r, m->image->ptx);
	put32(r, m->image->target);
	put32(r, n);
	for (unsigned i = 0; i < n; i++) {
		put32(r, (uint32_t)options[i]);
		put64(r, (uintptr_t)values[i]);
	}
}

static CUresult add_module(CUmodule *out, struct context *c, struct image *image, unsigned n, const int *options,
                           void *const *values) {
	CUresult result = CUDA_ERROR_OUT_OF_MEMORY;
	pthread_mutex_lock(&lock);
	if (module_count < MAX_MODULES && image->kernel_count <= (unsigned)(MAX_FUNCTIONS - function_count)) {
		struct module *m = &modules[module_count++];
		m->context = c;
		m->number = (uint32_t)module_count;
		m->image = image;
		m->functions = &functions[function_count];
		function_count += (int)image->kernel_count;
		for (unsigned i = 0; i < image->kernel_count; i++) {
			struct function *f = &m->functions[i];
			f->kernel = &image->kernels[i];
			f->module = m;
			int shared = 49152 - (int)f->kernel->static_shared;
			atomic_store(&f->max_dynamic_shared, shared > 0 ? shared : 0);
			atomic_store(&f->carveout, -1);
		}
		atomic_store(&m->alive, true);
		record_load(m, n, options, values);
		*out = m;
		result = CUDA_SUCCESS;
	}
	pthread_mutex_unlock(&lock);
	return result;
}

EXPORT CUresult cuModuleLoadDataEx(CUmodule *module, const void *bytes, unsigned n, int *options, void **values) {
	ENTER();
	struct context *c;
	TRY(current_context(&c));
	if (module == NULL || bytes == NULL || (n > 0 && (options == NULL || values == NULL))) return CUDA_ERROR_INVALID_VALUE;
	struct image *image = calloc(1, sizeof *image);
	if (image == NULL) abort();
	const char *fault = "the image is malformed";
	CUresult result = strncmp(bytes, ELFMAG, SELFMAG) == 0 ? read_cubin(bytes, image) : read_ptx(bytes, image);
	if (result == CUDA_SUCCESS) fault = refusal(image, c, &result);
	if (result == CUDA_SUCCESS) result = add_module(module, c, image, n, options, values);
	if (result != CUDA_SUCCESS) {
		if (image->ptx && fault != NULL) write_log(n, options, values, fault);
		free_image(image);
		free(image);
	}
	return result;
}

static CUresult check_module(const struct module *m) {
	struct context *c;
	TRY(current_context(&c));
	return IN_SLOTS(m, modules) && atomic_load(&m->alive) && m->context == c ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

// The parsed image stays: a launch on another thread may still read it.
EXPORT CUresult cuModuleUnload(CUmodule module) {
	ENTER();
	TRY(check_module(module));
	TRY(refuse_in_capture());
	bool alive = true;
	return atomic_compare_exchange_strong(&module->alive, &alive, false) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

void unload_modules(const struct context *c) {
	for (int i = 0; i < module_count; i++)
		if (modules[i].context == c) atomic_store(&modules[i].alive, false);
}

EXPORT CUresult cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name) {
	ENTER();
	if (function == NULL || name == NULL) return CUDA_ERROR_INVALID_VALUE;
	TRY(check_module(module));
	for (unsigned i = 0; i < module->image->kernel_count; i++) {
		if (strcmp(module->image->kernels[i].name, name) == 0) {
			*function = &module->functions[i];
			return CUDA_SUCCESS;
		}
	}
	return CUDA_ERROR_NOT_FOUND;
}

static CUresult check_function(const struct function *f) {
	if (!IN_SLOTS(f, functions) || f->module == NULL || !atomic_load(&f->module->alive)) return CUDA_ERROR_INVALID_HANDLE;
	return atomic_load(&f->module->context->broken);
}

EXPORT CUresult cuFuncGetAttribute(int *value, int which, CUfunction f) {
	ENTER();
	if (value == NULL) return CUDA_ERROR_INVALID_VALUE;
	TRY(check_function(f));
	const struct kernel *k = f->kernel;
	switch (which) {
	case FUNC_MAX_THREADS_PER_BLOCK:
		*value = most_threads(&devices[device_of(f->module->context)], k);
		break;
	case FUNC_SHARED_SIZE_BYTES: *value = (int)k->static_shared; break;
	case FUNC_CONST_SIZE_BYTES:
	case FUNC_LOCAL_SIZE_BYTES:
	case FUNC_CACHE_MODE_CA: *value = 0; break;
	case FUNC_NUM_REGS: *value = (int)k->registers; break;
	case FUNC_PTX_VERSION:
	case FUNC_BINARY_VERSION: *value = (int)f->module->image->target; break;
	case FUNC_MAX_DYNAMIC_SHARED_SIZE_BYTES: *value = atomic_load(&f->max_dynamic_shared); break;
	case FUNC_PREFERRED_SHARED_MEMORY_CARVEOUT: *value = atomic_load(&f->carveout); break;
	case FUNC_CLUSTER_SIZE_MUST_BE_SET: *value = k->explicit_cluster; break;
	case FUNC_REQUIRED_CLUSTER_WIDTH:
	case FUNC_REQUIRED_CLUSTER_HEIGHT:
	case FUNC_REQUIRED_CLUSTER_DEPTH: *value = (int)k->cluster[which - FUNC_REQUIRED_CLUSTER_WIDTH]; break;
	case FUNC_NON_PORTABLE_CLUSTER_SIZE_ALLOWED: *value = atomic_load(&f->non_portable_cluster); break;
	case FUNC_CLUSTER_SCHEDULING_POLICY_PREFERENCE: *value = atomic_load(&f->scheduling_policy); break;
	default: return CUDA_ERROR_INVALID_VALUE;
	}
	return CUDA_SUCCESS;
}

EXPORT CUresult cuFuncSetAttribute(CUfunction f, int which, int value) {
	ENTER();
	TRY(check_function(f));
	switch (which) {
	case FUNC_MAX_DYNAMIC_SHARED_SIZE_BYTES: {
		int limit = attribute(f->module->context, DEVICE_MAX_SHARED_PER_BLOCK_OPTIN) - (int)f->kernel->static_shared;
		if (value < 0 || value > limit) return CUDA_ERROR_INVALID_VALUE;
		atomic_store(&f->max_dynamic_shared, value);
		break;
	}
	case FUNC_PREFERRED_SHARED_MEMORY_CARVEOUT:
		if (value < -1 || value > 100) return CUDA_ERROR_INVALID_VALUE;
		atomic_store(&f->carveout, value);
		break;
	case FUNC_NON_PORTABLE_CLUSTER_SIZE_ALLOWED:
		atomic_store(&f->non_portable_cluster, value != 0);
		break;
	case FUNC_CLUSTER_SCHEDULING_POLICY_PREFERENCE: atomic_store(&f->scheduling_policy, value); break;
	default: return CUDA_ERROR_INVALID_VALUE;
	}
	return CUDA_SUCCESS;
}

#if FAKE_VERSION >= 12040
EXPORT CUresult cuFuncGetParamInfo(CUfunction f, size_t i, size_t *offset, size_t *size) {
	ENTER();
	TRY(check_function(f));
	if (offset == NULL || i >= f->kernel->param_count) return CUDA_ERROR_INVALID_VALUE;
	*offset = f->kernel->params[i].offset;
	if (size != NULL) *size = f->kernel->params[i].size;
	return CUDA_SUCCESS;
}
#endif
