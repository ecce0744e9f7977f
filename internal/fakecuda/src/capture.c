// Captures of streams into graphs.
#include <stdlib.h>

#include "control.h"
#include "fake.h"
#include "operation.h"

struct capture {
	uint64_t number; // from 1
	int mode;
	uint64_t thread; // that began it
	struct stream *origin;
	struct graph *graph;
};

static uint64_t last_number;
static _Thread_local int thread_mode = CAPTURE_MODE_GLOBAL;

// Whether a capture forbids this thread what is unsafe while one goes on. One
// that a test has set is in global mode.
static bool forbids(const struct stream *s) {
	if (atomic_load(&s->capture) == CAPTURE_NONE || thread_mode == CAPTURE_MODE_RELAXED) return false;
	if (s->in == NULL) return true;
	bool own = s->in->thread == thread_id() && s->in->mode != CAPTURE_MODE_RELAXED;
	return own || (s->in->mode == CAPTURE_MODE_GLOBAL && thread_mode == CAPTURE_MODE_GLOBAL);
}

void spoil(struct stream *s) {
	atomic_store(&s->capture, CAPTURE_INVALIDATED);
	for (int i = 0; i < stream_count && s->in != NULL; i++)
		if (streams[i].in == s->in) atomic_store(&streams[i].capture, CAPTURE_INVALIDATED);
}

CUresult refuse_in_capture(void) {
	CUresult result = CUDA_SUCCESS;
	pthread_mutex_lock(&lock);
	for (int i = 0; i < stream_count; i++) {
		if (!forbids(&streams[i])) continue;
		spoil(&streams[i]);
		result = CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
	}
	pthread_mutex_unlock(&lock);
	return result;
}

CUresult refuse_captured(CUstream s) {
	if (capture_of(s) == CAPTURE_NONE) return CUDA_SUCCESS;
	pthread_mutex_lock(&lock);
	spoil(s);
	pthread_mutex_unlock(&lock);
	return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
}

struct graph *graph_of(CUstream s) { return IN_SLOTS(s, streams) && s->in != NULL ? s->in->graph : NULL; }

uint64_t capture_number(CUstream s) { return graph_of(s) != NULL ? s->in->number : 0; }

struct stream *stream_in(uint64_t capture) {
	for (int i = 0; i < stream_count; i++)
		if (streams[i].in != NULL && streams[i].in->number == capture) return &streams[i];
	return NULL;
}

void join_capture(struct stream *s, struct stream *other, const struct nodes *tail) {
	s->in = other->in;
	atomic_store(&s->capture, CAPTURE_ACTIVE);
	include(&s->tail, tail);
}

static void leave(struct stream *s) {
	s->in = NULL;
	replace(&s->tail, NULL);
	atomic_store(&s->capture, CAPTURE_NONE);
}

// end returns the capture's graph, which nothing owns any more.
static struct graph *end(struct capture *c) {
	struct graph *g = c->graph;
	for (int i = 0; i < stream_count; i++)
		if (streams[i].in == c) leave(&streams[i]);
	free(c);
	return g;
}

void leave_capture(struct stream *s) {
	if (s->in != NULL && s->in->origin == s) destroy_graph(end(s->in));
	leave(s);
}

void end_captures(void) {
	for (int i = 0; i < stream_count; i++) {
		if (streams[i].in != NULL) destroy_graph(end(streams[i].in));
		atomic_store(&streams[i].capture, CAPTURE_NONE);
	}
}

static CUresult begin(CUstream s, int mode) {
	if (atomic_load(&s->capture) != CAPTURE_NONE) return CUDA_ERROR_ILLEGAL_STATE;
	struct graph *g = new_graph(s->context);
	struct capture *c = malloc(sizeof *c);
	if (g == NULL || c == NULL) abort();
	*c = (struct capture){++last_number, mode, thread_id(), s, g};
	s->in = c;
	atomic_store(&s->capture, CAPTURE_ACTIVE);
	return CUDA_SUCCESS;
}

EXPORT CUresult cuStreamBeginCapture_v2(CUstream stream, int mode) {
	ENTER();
	struct context *c;
	TRY(current_context(&c));
	TRY(check_stream(stream, c));
	if (!IN_SLOTS(stream, streams)) return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
	if (mode < CAPTURE_MODE_GLOBAL || mode > CAPTURE_MODE_RELAXED) return CUDA_ERROR_INVALID_VALUE;
	pthread_mutex_lock(&lock);
	CUresult result = begin(stream, mode);
	pthread_mutex_unlock(&lock);
	return result;
}

static bool joined(const struct capture *c) {
	for (int i = 0; i < stream_count; i++)
		if (streams[i].in == c && !all_follow(&c->origin->tail, &streams[i].tail)) return false;
	return true;
}

static CUresult finish(CUstream s, CUgraph *graph) {
	struct capture *c = s->in;
	if (c == NULL) return CUDA_ERROR_ILLEGAL_STATE;
	if (c->origin != s) {
		spoil(s);
		return CUDA_ERROR_STREAM_CAPTURE_UNMATCHED;
	}
	CUresult result = CUDA_SUCCESS;
	if (c->mode != CAPTURE_MODE_RELAXED && c->thread != thread_id())
		result = CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD;
	else if (atomic_load(&s->capture) == CAPTURE_INVALIDATED)
		result = CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
	else if (!joined(c))
		result = CUDA_ERROR_STREAM_CAPTURE_UNJOINED;
	struct graph *g = end(c);
	*graph = NULL;
	if (result == CUDA_SUCCESS)
		*graph = g;
	else
		destroy_graph(g);
	return result;
}

EXPORT CUresult cuStreamEndCapture(CUstream stream, CUgraph *graph) {
	ENTER();
	struct context *c;
	TRY(current_context(&c));
	TRY(check_stream(stream, c));
	if (graph == NULL) return CUDA_ERROR_INVALID_VALUE;
	if (!IN_SLOTS(stream, streams)) return CUDA_ERROR_ILLEGAL_STATE;
	pthread_mutex_lock(&lock);
	CUresult result = finish(stream, graph);
	pthread_mutex_unlock(&lock);
	return result;
}

EXPORT CUresult cuStreamGetCaptureInfo_v2(CUstream stream, int *status, uint64_t *id, CUgraph *graph,
                                          struct node *const **nodes, size_t *count) {
	ENTER();
	struct context *c;
	TRY(current_context(&c));
	TRY(check_stream(stream, c));
	if (status == NULL) return CUDA_ERROR_INVALID_VALUE;
	pthread_mutex_lock(&lock);
	*status = capture_of(stream);
	struct graph *g = graph_of(stream);
	if (*status == CAPTURE_ACTIVE) {
		if (id != NULL) *id = capture_number(stream);
		if (graph != NULL) *graph = g;
		if (nodes != NULL) *nodes = stream->tail.list;
		if (count != NULL) *count = stream->tail.count;
	}
	pthread_mutex_unlock(&lock);
	return CUDA_SUCCESS;
}

EXPORT CUresult cuThreadExchangeStreamCaptureMode(int *mode) {
	ENTER();
	if (mode == NULL || *mode < CAPTURE_MODE_GLOBAL || *mode > CAPTURE_MODE_RELAXED) return CUDA_ERROR_INVALID_VALUE;
	int before = thread_mode;
	thread_mode = *mode;
	*mode = before;
	return CUDA_SUCCESS;
}

int fake_set_capture(CUstream stream, int status) {
	if (!IN_SLOTS(stream, streams) || !atomic_load(&stream->alive)) return 0;
	atomic_store(&stream->capture, status);
	return 1;
}
