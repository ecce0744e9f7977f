// Cubins: ELF files with a section .nv.info.NAME for each kernel.
#include <elf.h>
#include <stdio.h>
#include <string.h>

#include "image.h"

enum {
	FORMAT_SIZED = 4, // the record's last two bytes are the size of what follows

	INFO_MAX_THREADS = 0x05,
	INFO_REQNTID = 0x10,
	INFO_KPARAM = 0x17,
	INFO_REGISTERS = 0x2f,
	INFO_CLUSTER = 0x3d,
	INFO_EXPLICIT_CLUSTER = 0x3e,
	INFO_KPARAM_V2 = 0x45,
};

struct elf {
	const unsigned char *bytes;
	Elf64_Ehdr header;
};

static Elf64_Shdr section(const struct elf *e, unsigned i) {
	Elf64_Shdr s;
	memcpy(&s, e->bytes + e->header.e_shoff + (size_t)i * sizeof s, sizeof s);
	return s;
}

static const char *section_name(const struct elf *e, const Elf64_Shdr *s) {
	return (const char *)e->bytes + section(e, e->header.e_shstrndx).sh_offset + s->sh_name;
}

// The number of the section PREFIX NAME; 0: there is none.
static unsigned find_section(const struct elf *e, const char *prefix, const char *name) {
	for (unsigned i = 1; i < e->header.e_shnum; i++) {
		Elf64_Shdr s = section(e, i);
		const char *n = section_name(e, &s);
		if (strncmp(n, prefix, strlen(prefix)) == 0 && strcmp(n + strlen(prefix), name) == 0) return i;
	}
	return 0;
}

static uint32_t u32(const unsigned char *p) {
	uint32_t n;
	memcpy(&n, p, sizeof n);
	return n;
}

static CUresult read_param(const unsigned char *p, struct kernel *k) {
	unsigned ordinal = u32(p + 4) & 0xffff;
	if (ordinal >= MAX_PARAMS) return CUDA_ERROR_INVALID_IMAGE;
	k->params[ordinal] = (struct param){u32(p + 4) >> 16, u32(p + 8) >> 18};
	if (ordinal >= k->param_count) k->param_count = ordinal + 1;
	return CUDA_SUCCESS;
}

static void read_dim(const unsigned char *p, unsigned dim[3]) {
	for (int i = 0; i < 3; i++) dim[i] = u32(p + 4 * i);
}

// Registers stand in the file's own .nv.info, by the number of a symbol.
static unsigned registers_of(const struct elf *e, const struct kernel *k) {
	unsigned text = find_section(e, ".text.", k->name), info = find_section(e, ".nv.info", ""), table = find_section(e, ".symtab", "");
	if (text == 0 || info == 0 || table == 0) return 0;
	Elf64_Shdr symbols = section(e, table), s = section(e, info);
	for (size_t at = 0; at + 12 <= s.sh_size;) {
		const unsigned char *p = e->bytes + s.sh_offset + at;
		size_t size = p[0] == FORMAT_SIZED ? u32(p) >> 16 : 0;
		if (p[0] == FORMAT_SIZED && p[1] == INFO_REGISTERS && size == 8 && u32(p + 4) < symbols.sh_size / sizeof(Elf64_Sym)) {
			Elf64_Sym symbol;
			memcpy(&symbol, e->bytes + symbols.sh_offset + u32(p + 4) * sizeof symbol, sizeof symbol);
			if (symbol.st_shndx == text && ELF64_ST_TYPE(symbol.st_info) == STT_FUNC) return u32(p + 8);
		}
		at += 4 + size;
	}
	return 0;
}

static CUresult read_info(const struct elf *e, const Elf64_Shdr *s, struct kernel *k) {
	for (size_t at = 0; at + 4 <= s->sh_size;) {
		const unsigned char *p = e->bytes + s->sh_offset + at;
		size_t size = p[0] == FORMAT_SIZED ? u32(p) >> 16 : 0;
		if (at + 4 + size > s->sh_size) return CUDA_ERROR_INVALID_IMAGE;
		switch (p[1]) {
		case INFO_KPARAM:
			if (size != 12 || read_param(p + 4, k) != CUDA_SUCCESS) return CUDA_ERROR_INVALID_IMAGE;
			break;
		case INFO_KPARAM_V2: // no toolchain at hand writes it
			return CUDA_ERROR_NOT_SUPPORTED;
		case INFO_REQNTID:
			if (size == 12) read_dim(p + 4, k->block);
			break;
		case INFO_MAX_THREADS:
			if (size == 12) k->max_threads = u32(p + 4) * u32(p + 8) * u32(p + 12);
			break;
		case INFO_CLUSTER:
			if (size == 12) read_dim(p + 4, k->cluster);
			break;
		case INFO_EXPLICIT_CLUSTER:
			k->explicit_cluster = true;
			break;
		}
		at += 4 + size;
	}
	k->registers = registers_of(e, k);
	return CUDA_SUCCESS;
}

CUresult read_cubin(const unsigned char *bytes, struct image *image) {
	struct elf e = {.bytes = bytes};
	memcpy(&e.header, bytes, sizeof e.header);
	const Elf64_Ehdr *h = &e.header;
	if (h->e_ident[EI_CLASS] != ELFCLASS64 || h->e_machine != EM_CUDA || h->e_shentsize != sizeof(Elf64_Shdr) ||
	    h->e_shnum == 0 || h->e_shstrndx >= h->e_shnum)
		return CUDA_ERROR_INVALID_IMAGE;

	uint32_t flags = h->e_flags;
	switch (h->e_ident[EI_ABIVERSION]) {
	case 7:
		image->target = flags & 0xff;
		image->suffix = flags & 0x800 ? 'a' : 0;
		break;
	case 8:
		image->target = flags >> 8 & 0xff;
		image->suffix = flags & 0x8 ? 'a' : 0;
		break;
	default:
		return CUDA_ERROR_INVALID_IMAGE;
	}

	// From sm_90 on the section counts what the system keeps for itself.
	unsigned reserved = image->target >= 90 ? 1024 : 0;
	static const char prefix[] = ".nv.info.";
	for (unsigned i = 1; i < h->e_shnum; i++) {
		Elf64_Shdr s = section(&e, i);
		const char *name = section_name(&e, &s);
		if (strncmp(name, prefix, strlen(prefix)) != 0) continue;
		name += strlen(prefix);
		struct kernel *k = add_kernel(image, name, strlen(name));
		CUresult result = read_info(&e, &s, k);
		if (result != CUDA_SUCCESS) return result;
		unsigned shared = find_section(&e, ".nv.shared.", name);
		if (shared != 0 && section(&e, shared).sh_size > reserved)
			k->static_shared = (unsigned)section(&e, shared).sh_size - reserved;
	}
	return image->kernel_count == 0 ? CUDA_ERROR_INVALID_IMAGE : CUDA_SUCCESS;
}
