#include "operation.h"

CUresult perform(CUstream stream, const struct operation *op, const struct exec *exec) {
	switch (op->type) {
	case NODE_KERNEL:
		TRY(check_replay(&op->launch));
		record_launch(&op->launch, stream, exec);
		break;
	case NODE_COPY:
		TRY(check_copy(&op->copy));
		if (recording()) put_copy(new_record(COPIES), &op->copy, stream, exec);
		do_copy(&op->copy);
		break;
	case NODE_FILL:
		TRY(check_fill(&op->fill));
		if (recording()) put_fill(new_record(FILLS), &op->fill, stream, exec);
		do_fill(&op->fill);
		break;
	}
	return CUDA_SUCCESS;
}

CUresult submit(CUstream stream, const struct operation *op) {
	struct graph *g = graph_of(stream);
	if (g == NULL) return perform(stream, op, NULL);
	if (op->type == NODE_COPY) TRY(check_copy(&op->copy));
	if (op->type == NODE_FILL) TRY(check_fill(&op->fill));
	return add_node(g, stream, op);
}

void put_operation(struct record *r, const struct operation *op, CUstream stream, const struct exec *exec) {
	switch (op->type) {
	case NODE_KERNEL: put_launch(r, &op->launch, stream, exec); break;
	case NODE_COPY: put_copy(r, &op->copy, stream, exec); break;
	case NODE_FILL: put_fill(r, &op->fill, stream, exec); break;
	}
}
