/* SPDX-License-Identifier: Apache-2.0
 *
 * driver.c - run a fuzz target without a fuzzer: driver N [CORPUS_DIR]
 *
 * Every file of the directory as it is, then N inputs made from a fixed seed: half of them random
 * bytes, half of them a file (or a built-in body) with a few bytes changed, cut or doubled. The same
 * N gives the same inputs.
 */
#include <dirent.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define INPUT_MAX 4096u
#define SEEDS_MAX 256u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct seed {
	uint8_t *bytes; /* owned */
	size_t len;
};

static struct seed seeds[SEEDS_MAX];
static unsigned n_seeds;

static uint64_t random_next(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

static void seed_add(const void *bytes, size_t len)
{
	struct seed *s = &seeds[n_seeds];

	if (n_seeds == SEEDS_MAX || (s->bytes = malloc(len + 1)) == NULL)
		return;
	memcpy(s->bytes, bytes, len);
	s->len = len;
	n_seeds++;
}

static void seed_read(const char *path)
{
	uint8_t bytes[INPUT_MAX];
	FILE *file = fopen(path, "rb");

	if (file == NULL)
		return;
	seed_add(bytes, fread(bytes, 1, sizeof(bytes), file));
	fclose(file);
}

static void seeds_read(const char *dir)
{
	DIR *d = opendir(dir);
	struct dirent *entry;
	char path[4096];

	while (d != NULL && (entry = readdir(d)) != NULL)
		if (entry->d_name[0] != '.') {
			snprintf(path, sizeof(path), "%s/%s", dir, entry->d_name);
			seed_read(path);
		}
	if (d != NULL)
		closedir(d);
}

static void built_in_seeds(void)
{
	static const char body[] = "\x83\xa3req\xa6status\xa2id\xa0\xa6select\x91\x94\xa9job_state"
				   "\xc0\xa1Q\x04";
	static const char part[] = "\0\0\0\x12\0\3\0\0\0\0\0\0\0\0\0\1\x81\xa7objects\x91\x92\xa1"
				   "1\x91\x93\xa1n\xc0\xa0";

	seed_add(body, sizeof(body) - 1);
	seed_add(part, sizeof(part) - 1);
}

static size_t make_random(uint8_t *out, uint64_t *state)
{
	size_t len = random_next(state) % 512;

	for (size_t i = 0; i < len; i++)
		out[i] = (uint8_t)random_next(state);
	return len;
}

static size_t make_mutant(uint8_t *out, uint64_t *state)
{
	const struct seed *s = &seeds[random_next(state) % n_seeds];
	size_t len = s->len;

	memcpy(out, s->bytes, len);
	for (unsigned i = 1 + (unsigned)(random_next(state) % 4); i > 0 && len > 0; i--) {
		size_t at = random_next(state) % len;

		switch (random_next(state) % 4) {
		case 0:
			out[at] = (uint8_t)random_next(state);
			break;
		case 1:
			out[at] ^= (uint8_t)(1u << (random_next(state) % 8));
			break;
		case 2:
			len = at;
			break;
		default:
			if (len * 2 - at <= INPUT_MAX) {
				memmove(out + len, out + at, len - at);
				len += len - at;
			}
			break;
		}
	}
	return len;
}

/* In a block of its own size: a sanitizer sees whoever reads behind its end. */
static void try(const uint8_t *bytes, size_t len)
{
	uint8_t *exact = malloc(len > 0 ? len : 1);

	if (exact == NULL)
		abort();
	memcpy(exact, bytes, len);
	LLVMFuzzerTestOneInput(exact, len);
	free(exact);
}

int main(int argc, char **argv)
{
	static uint8_t input[INPUT_MAX];
	uint64_t state = 0x9e3779b97f4a7c15ull;
	long n = argc > 1 ? strtol(argv[1], NULL, 10) : 10000;

	built_in_seeds();
	if (argc > 2)
		seeds_read(argv[2]);
	for (unsigned i = 0; i < n_seeds; i++)
		try(seeds[i].bytes, seeds[i].len);
	for (long i = 0; i < n; i++) {
		size_t len = i % 2 == 0 ? make_random(input, &state) : make_mutant(input, &state);

		try(input, len);
	}
	printf("%u seeds, %ld inputs\n", n_seeds, n);
	for (unsigned i = 0; i < n_seeds; i++)
		free(seeds[i].bytes);
	return 0;
}
