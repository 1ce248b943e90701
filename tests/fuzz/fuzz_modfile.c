/* SPDX-License-Identifier: Apache-2.0
 *
 * fuzz_modfile.c - a module's file with some bytes changed: refused with a sentence, or all that it says is
 * terminated and may be printed. An input is a row of changes: where (one of four regions, and how far), and a byte.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "modfile/descriptor.h"

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
	const uint64_t from[] = { 0, whole.descriptor - 1024, whole.descriptor, 4096 };
	const uint64_t lens[] = { 1024, 2048, sizeof(struct keel_module), whole.len };

	return (from[region % 4] + distance * (region % 4 == 3 ? 8ull : 1) % lens[region % 4]) % whole.len;
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
	m = modfile_read_bytes((struct modfile_bytes){ bytes, len }, why);
	if (m != NULL)
		look(m);
	else if (why[0] == '\0')
		abort();
	modfile_module_free(m);
	free(bytes);
	return 0;
}
