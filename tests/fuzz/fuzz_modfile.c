/* SPDX-License-Identifier: Apache-2.0
 *
 * fuzz_modfile.c - a module's file with some bytes changed: refused with a sentence, or all that it says is
 * terminated and may be printed. An input is a row of changes: where (one of five regions, and how far), and a byte.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "modfile/descriptor.h"
#include "modfile/elf_file.h"
#include "modfile/elf_names.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct {
	unsigned char *bytes;
	uint64_t len, descriptor;
} whole;

/* A module of the build this program is part of. */
static void whole_read(void)
{
	const struct keel_module head = { .magic = KEEL_MAGIC, .abi_major = KEEL_ABI_MAJOR };
	char path[4096 + 32];
	ssize_t n = readlink("/proc/self/exe", path, 4096);
	FILE *f;

	path[n < 0 ? 0 : n] = '\0';
	for (int up = 0; up < 3 && strrchr(path, '/') != NULL; up++)
		*strrchr(path, '/') = '\0';
	strcat(path, "/modules/delete-preemption.so");
	f = fopen(path, "rb");
	whole.bytes = malloc(1 << 22);
	if (f == NULL || whole.bytes == NULL)
		abort();
	whole.len = fread(whole.bytes, 1, 1 << 22, f);
	fclose(f);
	for (uint64_t i = 0; i + 8 < whole.len; i += 8)
		if (memcmp(whole.bytes + i, &head, 6) == 0)
			whole.descriptor = i;
}

static uint64_t place(uint8_t region, uint16_t distance)
{
	const struct {
		uint64_t from, len, step;
	} regions[] = {
		{ 0, 1024, 1 },
		{ whole.descriptor - 1024, 2048, 1 },
		{ whole.descriptor, sizeof(struct keel_module), 1 },
		{ 4096, whole.len, 8 },
		{ whole.len - 4096, 4096, 1 }, /* section headers */
	};
	const uint64_t r = region % 5;

	return (regions[r].from + distance * regions[r].step % regions[r].len) % whole.len;
}

static void look(const struct modfile_module *m)
{
	uint64_t sum = strlen(m->head.name);

	for (uint32_t i = 0; i < m->head.n_conf; i++)
		sum += strlen(m->conf[i].key) + (m->conf[i].doc == NULL ? 0 : strlen(m->conf[i].doc));
	for (uint32_t i = 0; i < m->head.n_taps; i++)
		sum += m->taps[i].name == NULL ? 0 : strlen(m->taps[i].name);
	for (uint32_t i = 0; i < m->head.n_contribs; i++)
		sum += strlen(m->contribs[i].kind);
	for (const char *p = m->head.summary; p != NULL && *p != '\0'; p++)
		if ((unsigned char)*p < ' ')
			abort();
	if (sum > 1ull << 40)
		abort();
}

static void name_seen(void *arg, const char *name)
{
	*(uint64_t *)arg += strlen(name);
}

/* The same bytes as a file, read by its section headers. */
static void linkage_look(const unsigned char *bytes, uint64_t len)
{
	static int fd = -1;
	char path[64], name[16];
	struct elf_file f;
	uint64_t sum = 0;

	if (fd < 0)
		fd = memfd_create("module", 0);
	if (ftruncate(fd, 0) < 0 || pwrite(fd, bytes, len, 0) != (ssize_t)len)
		abort();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (elf_file_read(path, &f) == NULL && strlen(f.exports) >= sizeof(f.exports))
		abort();
	elf_variables(path, name_seen, &sum);
	elf_imports(path, name_seen, &sum);
	elf_libraries(path, name_seen, &sum);
	if (elf_function_at(path, 4096 + len % 8192, name, sizeof(name)) && strlen(name) >= sizeof(name))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char why[MODFILE_WHY_MAX] = "";
	struct modfile_module *m;
	unsigned char *bytes;
	uint64_t len;

	if (whole.bytes == NULL)
		whole_read();
	len = size > 0 && data[0] < 16 ? whole.len * data[0] / 16 : whole.len;
	bytes = malloc(len + 1);
	if (bytes == NULL)
		return 0;
	memcpy(bytes, whole.bytes, len);
	for (size_t i = 0; i + 4 <= size && i < 64; i += 4) {
		uint64_t at = place(data[i], (uint16_t)(data[i + 1] | data[i + 2] << 8));

		if (at < len)
			bytes[at] = data[i + 3];
	}
	linkage_look(bytes, len);
	m = modfile_read_bytes((struct modfile_bytes){ bytes, len }, why);
	if (m != NULL)
		look(m);
	else if (why[0] == '\0')
		abort();
	modfile_module_free(m);
	free(bytes);
	return 0;
}
