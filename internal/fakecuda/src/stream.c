#include "control.h"
#include "fake.h"

struct stream streams[MAX_STREAMS];
int stream_count;

enum { LEAST_PRIORITY = 0, GREATEST_PRIORITY = -5 };

static pthread_cond_t released = PTHREAD_COND_INITIALIZER;

CUresult check_stream(CUstream s, const struct context *c) {
	if (s == NULL || s == STREAM_LEGACY || s == STREAM_PER_THREAD) return CUDA_SUCCESS;
	if (!IN_SLOTS(s, streams) || !atomic_load_explicit(&s->alive, memory_order_relaxed) || s->context != c)
		return CUDA_ERROR_INVALID_HANDLE;
	return CUDA_SUCCESS;
}

CUresult enter_stream(CUstream s, struct context **c) {
	TRY(current_context(c));
	TRY(check_stream(s, *c));
	return capture_of(s) == CAPTURE_INVALIDATED ? CUDA_ERROR_STREAM_CAPTURE_INVALIDATED : CUDA_SUCCESS;
}

bool pending(struct hold h) { return h.stream != NULL && h.stream->held && h.stream->hold_number == h.number; }

struct hold hold_of(CUstream s) {
	if (!IN_SLOTS(s, streams)) return (struct hold){0};
	return s->held ? (struct hold){s, s->hold_number} : s->behind;
}

// A device that breaks ends every wait.
CUresult wait_for(struct hold h, struct context *c) {
	while (pending(h) && atomic_load(&c->broken) == 0) pthread_cond_wait(&released, &lock);
	trim_pools(c);
	return atomic_load(&c->broken);
}

void release_holds(void) {
	for (int i = 0; i < stream_count; i++) streams[i].held = false;
	pthread_cond_broadcast(&released);
}

void destroy_streams(const struct context *c) {
	for (int i = 0; i < stream_count; i++) {
		if (streams[i].context != c) continue;
		leave_capture(&streams[i]);
		atomic_store(&streams[i].alive, false);
	}
}

EXPORT CUresult cuStreamCreateWithPriority(CUstream *stream, unsigned flags, int priority) {
	ENTER();
	struct context *c;
	TRY(current_context(&c));
	if (stream == NULL || flags > 1) return CUDA_ERROR_INVALID_VALUE;
	CUresult result = CUDA_ERROR_OUT_OF_MEMORY;
	pthread_mutex_lock(&lock);
	if (stream_count < MAX_STREAMS) {
		struct stream *s = &streams[stream_count++];
		s->context = c;
		s->priority = priority > LEAST_PRIORITY      ? LEAST_PRIORITY
		              : priority < GREATEST_PRIORITY ? GREATEST_PRIORITY
		                                             : priority;
		atomic_store(&s->alive, true);
		*stream = s;
		result = CUDA_SUCCESS;
	}
	pthread_mutex_unlock(&lock);
	return result;
}

EXPORT CUresult cuStreamDestroy_v2(CUstream stream) {
	ENTER();
	if (!IN_SLOTS(stream, streams)) return CUDA_ERROR_INVALID_HANDLE;
	bool alive = true;
	if (atomic_load(&stream->alive) && atomic_load(&stream->context->broken) != 0) return atomic_load(&stream->context->broken);
	if (!atomic_compare_exchange_strong(&stream->alive, &alive, false)) return CUDA_ERROR_INVALID_HANDLE;
	pthread_mutex_lock(&lock);
	leave_capture(stream);
	pthread_mutex_unlock(&lock);
	return CUDA_SUCCESS;
}

// Waiting for a captured stream is refused in any mode, for another in some.
static CUresult enter_wait(CUstream stream, struct context **c) {
	TRY(current_context(c));
	TRY(check_stream(stream, *c));
	TRY(refuse_captured(stream));
	return refuse_in_capture();
}

EXPORT CUresult cuStreamSynchronize(CUstream stream) {
	ENTER();
	struct context *c;
	TRY(enter_wait(stream, &c));
	pthread_mutex_lock(&lock);
	CUresult result = wait_for(hold_of(stream), c);
	pthread_mutex_unlock(&lock);
	return result;
}

EXPORT CUresult cuStreamQuery(CUstream stream) {
	ENTER();
	struct context *c;
	TRY(enter_wait(stream, &c));
	pthread_mutex_lock(&lock);
	CUresult result = pending(hold_of(stream)) ? CUDA_ERROR_NOT_READY : CUDA_SUCCESS;
	pthread_mutex_unlock(&lock);
	return result;
}

EXPORT CUresult cuCtxSynchronize(void) {
	ENTER();
	struct context *c;
	TRY(current_context(&c));
	CUresult result = CUDA_SUCCESS;
	for (int i = 0; i < stream_count; i++)
		if (streams[i].context == c && refuse_captured(&streams[i]) != CUDA_SUCCESS)
			result = CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
	TRY(result);
	pthread_mutex_lock(&lock);
	for (int i = 0; i < stream_count && result == CUDA_SUCCESS; i++)
		if (streams[i].context == c) result = wait_for(hold_of(&streams[i]), c);
	trim_pools(c);
	pthread_mutex_unlock(&lock);
	return result;
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

EXPORT CUresult cuStreamGetCtx(CUstream stream, CUcontext *context) {
	ENTER();
	if (context == NULL) return CUDA_ERROR_INVALID_VALUE;
	if (IN_SLOTS(stream, streams)) {
		TRY(check_stream(stream, stream->context));
		TRY(atomic_load(&stream->context->broken));
		*context = stream->context;
		return CUDA_SUCCESS;
	}
	struct context *c;
	TRY(current_context(&c));
	TRY(check_stream(stream, c));
	*context = c;
	return CUDA_SUCCESS;
}

EXPORT CUresult cuStreamGetPriority(CUstream stream, int *priority) {
	ENTER();
	struct context *c;
	TRY(current_context(&c));
	TRY(check_stream(stream, c));
	if (priority == NULL) return CUDA_ERROR_INVALID_VALUE;
	*priority = IN_SLOTS(stream, streams) ? stream->priority : LEAST_PRIORITY;
	return CUDA_SUCCESS;
}

int fake_hold(CUstream stream, int on) {
	if (!IN_SLOTS(stream, streams)) return 0;
	pthread_mutex_lock(&lock);
	stream->held = on != 0;
	if (on) stream->hold_number++;
	pthread_cond_broadcast(&released);
	pthread_mutex_unlock(&lock);
	return 1;
}

int fake_break(int device, int code) {
	if (device < 0 || device >= MAX_DEVICES) return 0;
	pthread_mutex_lock(&lock);
	atomic_store(&contexts[device].broken, code);
	pthread_cond_broadcast(&released);
	pthread_mutex_unlock(&lock);
	return 1;
}
