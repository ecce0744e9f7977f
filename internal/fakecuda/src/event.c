// Events. Time goes by a microsecond at each record.
#include "fake.h"
#include "operation.h"

struct event events[MAX_EVENTS];
int event_count;

static uint64_t now;

static CUresult check_event(CUevent e) {
	return IN_SLOTS(e, events) && e->alive ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

static void destroy(struct event *e) {
	e->alive = false;
	replace(&e->tail, NULL);
}

void destroy_events(const struct context *c) {
	for (int i = 0; i < event_count; i++)
		if (events[i].alive && events[i].context == c) destroy(&events[i]);
}

EXPORT CUresult cuEventCreate(CUevent *event, unsigned flags) {
	ENTER();
	struct context *c;
	TRY(current_context(&c));
	if (event == NULL || flags > EVENT_FLAGS) return CUDA_ERROR_INVALID_VALUE;
	CUresult result = CUDA_ERROR_OUT_OF_MEMORY;
	pthread_mutex_lock(&lock);
	if (event_count < MAX_EVENTS) {
		*event = &events[event_count++];
		**event = (struct event){.alive = true, .context = c, .flags = flags};
		result = CUDA_SUCCESS;
	}
	pthread_mutex_unlock(&lock);
	return result;
}

EXPORT CUresult cuEventDestroy_v2(CUevent event) {
	ENTER();
	struct context *c;
	TRY(current_context(&c));
	pthread_mutex_lock(&lock);
	CUresult result = check_event(event);
	if (result == CUDA_SUCCESS) destroy(event);
	pthread_mutex_unlock(&lock);
	return result;
}

static void put_event(bool wait, CUevent e, CUstream s, bool captured) {
	if (!recording()) return;
	struct record *r = new_record(EVENTS);
	put32(r, wait);
	put64(r, (uintptr_t)e);
	put64(r, (uintptr_t)s);
	put32(r, captured);
}

static CUresult record(CUevent e, CUstream s, const struct context *c) {
	TRY(check_event(e));
	if (e->context != c) return CUDA_ERROR_INVALID_HANDLE;
	bool captured = graph_of(s) != NULL;
	e->recorded = true;
	e->time = ++now;
	e->hold = hold_of(s);
	e->capture = capture_number(s);
	replace(&e->tail, NULL);
	if (captured) include(&e->tail, &s->tail);
	put_event(false, e, s, captured);
	return CUDA_SUCCESS;
}

EXPORT CUresult cuEventRecord(CUevent event, CUstream stream) {
	ENTER();
	struct context *c;
	TRY(enter_stream(stream, &c));
	pthread_mutex_lock(&lock);
	CUresult result = record(event, stream, c);
	pthread_mutex_unlock(&lock);
	return result;
}

static CUresult wait(CUstream s, CUevent e) {
	TRY(check_event(e));
	struct stream *other = e->capture == 0 ? NULL : stream_in(e->capture);
	put_event(true, e, s, other != NULL);
	if (other == NULL) {
		if (!e->recorded) return CUDA_SUCCESS;
		if (graph_of(s) != NULL) {
			spoil(s);
			return CUDA_ERROR_STREAM_CAPTURE_ISOLATION;
		}
		if (IN_SLOTS(s, streams) && pending(e->hold)) s->behind = e->hold;
		return CUDA_SUCCESS;
	}
	if (atomic_load(&other->capture) == CAPTURE_INVALIDATED) return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
	if (!IN_SLOTS(s, streams)) {
		spoil(other);
		return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
	}
	if (graph_of(s) != NULL && capture_number(s) != e->capture) {
		spoil(s);
		spoil(other);
		return CUDA_ERROR_STREAM_CAPTURE_MERGE;
	}
	join_capture(s, other, &e->tail);
	return CUDA_SUCCESS;
}

EXPORT CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned flags) {
	ENTER();
	struct context *c;
	TRY(enter_stream(stream, &c));
	if (flags != 0) return CUDA_ERROR_INVALID_VALUE;
	pthread_mutex_lock(&lock);
	CUresult result = wait(stream, event);
	pthread_mutex_unlock(&lock);
	return result;
}

static CUresult refuse_captured_event(CUevent e) {
	TRY(check_event(e));
	struct stream *s = e->capture == 0 ? NULL : stream_in(e->capture);
	if (s == NULL) return CUDA_SUCCESS;
	spoil(s);
	return CUDA_ERROR_CAPTURED_EVENT;
}

static CUresult enter_event(CUevent e, struct context **c) {
	TRY(current_context(c));
	pthread_mutex_lock(&lock);
	CUresult result = refuse_captured_event(e);
	pthread_mutex_unlock(&lock);
	TRY(result);
	return refuse_in_capture();
}

EXPORT CUresult cuEventQuery(CUevent event) {
	ENTER();
	struct context *c;
	TRY(enter_event(event, &c));
	pthread_mutex_lock(&lock);
	CUresult result = pending(event->hold) ? CUDA_ERROR_NOT_READY : CUDA_SUCCESS;
	pthread_mutex_unlock(&lock);
	return result;
}

EXPORT CUresult cuEventSynchronize(CUevent event) {
	ENTER();
	struct context *c;
	TRY(enter_event(event, &c));
	pthread_mutex_lock(&lock);
	CUresult result = wait_for(event->hold, c);
	pthread_mutex_unlock(&lock);
	return result;
}

static CUresult elapsed(float *milliseconds, CUevent start, CUevent end) {
	const CUevent both[] = {start, end};
	for (int i = 0; i < 2; i++) {
		TRY(check_event(both[i]));
		if (!both[i]->recorded || both[i]->flags & EVENT_UNTIMED || both[i]->capture != 0) return CUDA_ERROR_INVALID_HANDLE;
	}
	if (pending(start->hold) || pending(end->hold)) return CUDA_ERROR_NOT_READY;
	*milliseconds = (float)((double)(int64_t)(end->time - start->time) / 1000);
	return CUDA_SUCCESS;
}

EXPORT CUresult cuEventElapsedTime(float *milliseconds, CUevent start, CUevent end) {
	ENTER();
	struct context *c;
	TRY(current_context(&c));
	if (milliseconds == NULL) return CUDA_ERROR_INVALID_VALUE;
	pthread_mutex_lock(&lock);
	CUresult result = elapsed(milliseconds, start, end);
	pthread_mutex_unlock(&lock);
	return result;
}
