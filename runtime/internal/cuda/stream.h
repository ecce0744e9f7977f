#ifndef KERNGEN_STREAM_H
#define KERNGEN_STREAM_H

#include "driver.h"

// Streams and events.

kg_status kg_stream_create(CUcontext ctx, int priority, CUstream *stream);
kg_status kg_stream_destroy(CUcontext ctx, CUstream stream);
kg_status kg_stream_synchronize(CUcontext ctx, CUstream stream);
kg_status kg_stream_query(CUcontext ctx, CUstream stream);
kg_status kg_stream_wait(CUcontext ctx, CUstream stream, CUevent event);
kg_status kg_stream_capturing(CUcontext ctx, CUstream stream, int *capturing);
kg_status kg_stream_context(CUcontext ctx, CUstream stream, CUcontext *of);
kg_status kg_stream_priority(CUcontext ctx, CUstream stream, int *priority);

kg_status kg_event_create(CUcontext ctx, unsigned flags, CUevent *event);
kg_status kg_event_destroy(CUcontext ctx, CUevent event);
kg_status kg_event_record(CUcontext ctx, CUevent event, CUstream stream);
kg_status kg_event_query(CUcontext ctx, CUevent event);
kg_status kg_event_synchronize(CUcontext ctx, CUevent event);
kg_status kg_event_elapsed(CUcontext ctx, CUevent start, CUevent end, float *milliseconds);

#endif
