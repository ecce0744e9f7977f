// PTX, as far as a launch depends on it: version, target, the parameters and
// directives of each entry.
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "image.h"

// A token is a run of word characters, with a leading dot for directives, or one
// other character.
struct scanner {
	const char *at;
	const char *token;
	size_t length;
};

static bool word(char c) { return isalnum((unsigned char)c) || c == '_' || c == '$' || c == '%'; }

static bool next(struct scanner *s) {
	for (;;) {
		while (isspace((unsigned char)*s->at)) s->at++;
		if (s->at[0] == '/' && s->at[1] == '/') {
			while (*s->at != 0 && *s->at != '\n') s->at++;
		} else if (s->at[0] == '/' && s->at[1] == '*') {
			const char *end = strstr(s->at + 2, "*/");
			s->at = end == NULL ? s->at + strlen(s->at) : end + 2;
		} else {
			break;
		}
	}
	s->token = s->at;
	if (*s->at == 0) return s->length = 0, false;
	s->at++;
	if (*s->token == '.' || word(*s->token))
		while (word(*s->at)) s->at++;
	s->length = (size_t)(s->at - s->token);
	return true;
}

static bool is(const struct scanner *s, const char *text) {
	return s->length == strlen(text) && memcmp(s->token, text, s->length) == 0;
}

static unsigned number(const struct scanner *s) { return (unsigned)strtoul(s->token, NULL, 0); }

static unsigned type_size(const struct scanner *s) {
	static const struct {
		const char *name;
		unsigned size;
	} types[] = {
		{".b8", 1}, {".u8", 1}, {".s8", 1}, {".b16", 2}, {".u16", 2}, {".s16", 2}, {".f16", 2}, {".b32", 4},
		{".u32", 4}, {".s32", 4}, {".f32", 4}, {".b64", 8}, {".u64", 8}, {".s64", 8}, {".f64", 8},
	};
	for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
		if (is(s, types[i].name)) return types[i].size;
	return 0;
}

// .param [.align N] .TYPE [.ptr .space .align N] NAME [ '[' N ']' ]
static CUresult read_params(struct scanner *s, struct kernel *k) {
	unsigned offset = 0;
	while (next(s) && !is(s, ")")) {
		if (!is(s, ".param")) return CUDA_ERROR_INVALID_PTX;
		unsigned size = 0, align = 0, count = 1;
		bool pointer = false;
		for (const char *before = s->at; next(s); before = s->at) {
			if (is(s, ",") || is(s, ")")) {
				s->at = is(s, ")") ? before : s->at; // the loop outside ends at it
				break;
			}
			if (is(s, ".ptr")) pointer = true;
			if (is(s, ".align") && next(s) && !pointer) align = number(s);
			if (is(s, "[") && next(s)) count = number(s);
			if (size == 0) size = type_size(s);
		}
		if (size == 0 || k->param_count == MAX_PARAMS) return CUDA_ERROR_INVALID_PTX;
		if (align == 0) align = size;
		offset = (offset + align - 1) / align * align;
		k->params[k->param_count++] = (struct param){offset, size * count};
		offset += size * count;
	}
	return CUDA_SUCCESS;
}

// N [, N [, N]], with 1 for what is left out.
static void read_dims(struct scanner *s, unsigned dim[3]) {
	dim[0] = dim[1] = dim[2] = 1;
	for (int i = 0; i < 3; i++) {
		next(s);
		dim[i] = number(s);
		struct scanner ahead = *s;
		if (!next(&ahead) || !is(&ahead, ",")) return;
		*s = ahead;
	}
}

static CUresult read_entry(struct scanner *s, struct image *image) {
	if (!next(s) || !word(*s->token)) return CUDA_ERROR_INVALID_PTX;
	struct kernel *k = add_kernel(image, s->token, s->length);
	if (!next(s)) return CUDA_ERROR_INVALID_PTX;
	if (is(s, "(")) {
		if (read_params(s, k) != CUDA_SUCCESS || !next(s)) return CUDA_ERROR_INVALID_PTX;
	}
	for (; !is(s, "{"); next(s)) {
		unsigned dim[3];
		if (s->length == 0) return CUDA_ERROR_INVALID_PTX;
		if (is(s, ".reqntid")) read_dims(s, k->block);
		if (is(s, ".reqnctapercluster")) read_dims(s, k->cluster);
		if (is(s, ".explicitcluster")) k->explicit_cluster = true;
		if (is(s, ".maxntid")) {
			read_dims(s, dim);
			k->max_threads = dim[0] * dim[1] * dim[2];
		}
	}
	return CUDA_SUCCESS;
}

CUresult read_ptx(const char *text, struct image *image) {
	image->ptx = true;
	struct scanner s = {.at = text};
	if (!next(&s) || !is(&s, ".version")) return CUDA_ERROR_INVALID_IMAGE;
	next(&s);
	image->isa = number(&s) * 10;
	next(&s); // .N
	image->isa += (unsigned)strtoul(s.token + 1, NULL, 10);

	while (next(&s)) {
		if (is(&s, ".target")) {
			if (!next(&s) || strncmp(s.token, "sm_", 3) != 0) return CUDA_ERROR_INVALID_PTX;
			char *end;
			image->target = (unsigned)strtoul(s.token + 3, &end, 10);
			image->suffix = end < s.token + s.length ? *end++ : 0;
			if (end != s.token + s.length || (image->suffix != 0 && image->suffix != 'a' && image->suffix != 'f'))
				return CUDA_ERROR_INVALID_PTX;
		}
		if (is(&s, ".entry") && read_entry(&s, image) != CUDA_SUCCESS) return CUDA_ERROR_INVALID_PTX;
	}
	return image->target == 0 || image->kernel_count == 0 ? CUDA_ERROR_INVALID_PTX : CUDA_SUCCESS;
}
