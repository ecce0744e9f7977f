#include "control.h"
#include "fake.h"

struct stream streams[MAX_STREAMS];
int stream_count;

static _Thread_local int capture_mode = CAPTURE_MODE_GLOBAL;

CUresult check_stream(CUstream s, const struct context *c) {
	if (s == NULL || s == STREAM_LEGACY || s == STREAM_PER_THREAD) return CUDA_SUCCESS;
	if (!IN_SLOTS(s, streams) || !atomic_load_explicit(&s->alive, memory_order_relaxed) || s->context != c)
		return CUDA_ERROR_INVALID_HANDLE;
	return CUDA_SUCCESS;
}

// Every capture counts as one in global mode: until it ends, no thread may do
// what cannot be captured, unless it has relaxed its own mode and the call is
// one that this permits. Doing it spoils the capture.
CUresult refuse_in_capture(bool also_relaxed) {
	if (capture_mode == CAPTURE_MODE_RELAXED && !also_relaxed) return CUDA_SUCCESS;
	CUresult result = CUDA_SUCCESS;
	pthread_mutex_lock(&lock);
	for (int i = 0; i < stream_count; i++) {
		if (atomic_load(&streams[i].capture) == CAPTURE_NONE) continue;
		atomic_store(&streams[i].capture, CAPTURE_INVALIDATED);
		result = CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
	}
	pthread_mutex_unlock(&lock);
	return result;
}

void end_captures(void) {
	for (int i = 0; i < stream_count; i++) atomic_store(&streams[i].capture, CAPTURE_NONE);
}

void destroy_streams(const struct context *c) {
	for (int i = 0; i < stream_count; i++)
		if (streams[i].context == c) atomic_store(&streams[i].alive, false);
}

EXPORT CUresult cuStreamCreateWithPriority(CUstream *stream, unsigned flags, int priority) {
	ENTER();
	(void)priority; // the driver clamps it to what it has
	struct context *c;
	TRY(current_context(&c));
	if (stream == NULL || flags > 1) return CUDA_ERROR_INVALID_VALUE;
	CUresult result = CUDA_ERROR_OUT_OF_MEMORY;
	pthread_mutex_lock(&lock);
	if (stream_count < MAX_STREAMS) {
		struct stream *s = &streams[stream_count++];
		s->context = c;
		atomic_store(&s->alive, true);
		*stream = s;
		result = CUDA_SUCCESS;
	}
	pthread_mutex_unlock(&lock);
	return result;
}

EXPORT CUresult cuStreamDestroy_v2(CUstream stream) {
	ENTER();
	bool alive = true;
	if (!IN_SLOTS(stream, streams) || !atomic_compare_exchange_strong(&stream->alive, &alive, false))
		return CUDA_ERROR_INVALID_HANDLE;
	return CUDA_SUCCESS;
}

EXPORT CUresult cuStreamSynchronize(CUstream stream) {
	ENTER();
	struct context *c;
	TRY(current_context(&c));
	TRY(check_stream(stream, c));
	return refuse_in_capture(capture_of(stream) != CAPTURE_NONE);
}

EXPORT CUresult cuCtxSynchronize(void) {
	ENTER();
	struct context *c;
	TRY(current_context(&c));
	return refuse_in_capture(true);
}

EXPORT CUresult cuStreamIsCapturing(CUstream stream, int *status) {
	ENTER();
	struct context *c;
	TRY(current_context(&c));
	TRY(check_stream(stream, c));
	if (status == NULL) return CUDA_ERROR_INVALID_VALUE;
	*status = capture_of(stream);
	return CUDA_SUCCESS;
}

EXPORT CUresult cuThreadExchangeStreamCaptureMode(int *mode) {
	ENTER();
	if (mode == NULL) return CUDA_ERROR_INVALID_VALUE;
	int before = capture_mode;
	capture_mode = *mode;
	*mode = before;
	return CUDA_SUCCESS;
}

EXPORT CUresult cuStreamGetCtx(CUstream stream, CUcontext *context) {
	ENTER();
	if (context == NULL) return CUDA_ERROR_INVALID_VALUE;
	if (IN_SLOTS(stream, streams)) {
		TRY(check_stream(stream, stream->context));
		*context = stream->context;
		return CUDA_SUCCESS;
	}
	struct context *c;
	TRY(current_context(&c));
	TRY(check_stream(stream, c));
	*context = c;
	return CUDA_SUCCESS;
}

int fake_set_capture(CUstream stream, int status) {
	if (!IN_SLOTS(stream, streams) || !atomic_load(&stream->alive)) return 0;
	atomic_store(&stream->capture, status);
	return 1;
}
