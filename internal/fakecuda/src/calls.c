// What every driver function does first: log the call, play an injected
// failure, refuse what comes before cuInit.
#include <stdio.h>
#include <string.h>

#include "control.h"
#include "fake.h"

pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
atomic_uint special = RECORDING | UNINITIALISED;

static struct failure {
	char call[64];
	CUresult code;
	int after; // calls that still succeed
	bool always;
} failures[64];
static int failure_count;

static CUresult injected(const char *call) {
	for (int i = 0; i < failure_count; i++) {
		struct failure *f = &failures[i];
		if (strcmp(f->call, call) != 0 && strcmp(f->call, "*") != 0) continue;
		if (f->after-- > 0) continue;
		CUresult code = f->code;
		if (f->always)
			f->after = 0;
		else // those armed later keep their order
			memmove(f, f + 1, (size_t)(--failure_count - i) * sizeof *f);
		if (failure_count == 0) atomic_fetch_and(&special, ~FAILING);
		return code;
	}
	return CUDA_SUCCESS;
}

CUresult enter_special(const char *call, bool before_init) {
	pthread_mutex_lock(&lock);
	unsigned what = atomic_load(&special);
	if (what & RECORDING) {
		struct record *r = new_record(CALLS);
		put_string(r, call);
		put64(r, (uintptr_t)current());
		put64(r, thread_id());
	}
	CUresult result = injected(call);
	if (result == CUDA_SUCCESS && what & UNINITIALISED && !before_init) result = CUDA_ERROR_NOT_INITIALIZED;
	pthread_mutex_unlock(&lock);
	return result;
}

int fake_fail(const char *call, int code, int after, int always) {
	pthread_mutex_lock(&lock);
	bool room = failure_count < (int)(sizeof failures / sizeof failures[0]);
	if (room) {
		struct failure *f = &failures[failure_count++];
		snprintf(f->call, sizeof f->call, "%s", call);
		f->code = code;
		f->after = after;
		f->always = always != 0;
		atomic_fetch_or(&special, FAILING);
	}
	pthread_mutex_unlock(&lock);
	return room;
}

int fake_record(int on) {
	if (on)
		atomic_fetch_or(&special, RECORDING);
	else
		atomic_fetch_and(&special, ~RECORDING);
	return 1;
}

int fake_reset(void) {
	pthread_mutex_lock(&lock);
	failure_count = 0;
	atomic_fetch_and(&special, ~FAILING);
	atomic_fetch_or(&special, RECORDING);
	for (int kind = 0; kind < RECORD_KINDS; kind++) clear_records(kind);
	end_captures();
	release_holds();
	reset_devices();
	pthread_mutex_unlock(&lock);
	return 1;
}
