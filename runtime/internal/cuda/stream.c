//go:build cgo && linux

#include "stream.h"

kg_status kg_stream_create(CUcontext ctx, int priority, CUstream *stream) {
	const unsigned nonBlocking = 1; // does not wait for the legacy default stream
	KG_IN_RELAXED(ctx, KG_CALL(cuStreamCreateWithPriority, stream, nonBlocking, priority));
}

kg_status kg_stream_destroy(CUcontext ctx, CUstream stream) { KG_IN_RELAXED(ctx, KG_CALL(cuStreamDestroy_v2, stream)); }

kg_status kg_stream_synchronize(CUcontext ctx, CUstream stream) { KG_IN_RELAXED(ctx, KG_CALL(cuStreamSynchronize, stream)); }

kg_status kg_stream_capturing(CUcontext ctx, CUstream stream, int *capturing) {
	KG_IN(ctx, KG_CALL(cuStreamIsCapturing, stream, capturing));
}

kg_status kg_stream_context(CUcontext ctx, CUstream stream, CUcontext *of) {
	KG_IN(ctx, KG_CALL(cuStreamGetCtx, stream, of));
}

kg_status kg_stream_priority(CUcontext ctx, CUstream stream, int *priority) {
	KG_IN(ctx, KG_CALL(cuStreamGetPriority, stream, priority));
}

kg_status kg_stream_query(CUcontext ctx, CUstream stream) { KG_IN_RELAXED(ctx, KG_CALL(cuStreamQuery, stream)); }

kg_status kg_stream_wait(CUcontext ctx, CUstream stream, CUevent event) {
	KG_IN(ctx, KG_CALL(cuStreamWaitEvent, stream, event, 0));
}

kg_status kg_event_create(CUcontext ctx, unsigned flags, CUevent *event) {
	KG_IN_RELAXED(ctx, KG_CALL(cuEventCreate, event, flags));
}

kg_status kg_event_destroy(CUcontext ctx, CUevent event) { KG_IN_RELAXED(ctx, KG_CALL(cuEventDestroy_v2, event)); }

kg_status kg_event_record(CUcontext ctx, CUevent event, CUstream stream) {
	KG_IN(ctx, KG_CALL(cuEventRecord, event, stream));
}

kg_status kg_event_query(CUcontext ctx, CUevent event) { KG_IN_RELAXED(ctx, KG_CALL(cuEventQuery, event)); }

kg_status kg_event_synchronize(CUcontext ctx, CUevent event) { KG_IN_RELAXED(ctx, KG_CALL(cuEventSynchronize, event)); }

kg_status kg_event_elapsed(CUcontext ctx, CUevent start, CUevent end, float *milliseconds) {
	KG_IN_RELAXED(ctx, KG_CALL(cuEventElapsedTime, milliseconds, start, end));
}
