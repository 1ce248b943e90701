/* SPDX-License-Identifier: Apache-2.0
 *
 * test_modfile.c - descriptors from files: those that are whole, and those that want to do harm.
 */
#include <elf.h>
#include <stdint.h>
#include <string.h>

#include "harness.h"
#include "modfile/descriptor.h"
#include "modfile/text.h"

static struct modfile_bytes file; /* a module of this build; its bytes may be changed */
static char why[MODFILE_WHY_MAX];

/* A fresh copy of a fixture. */
static unsigned char *fixture(const char *name)
{
	static unsigned char bytes[1 << 20];
	const char *build = getenv("KEELSON_BUILD");
	char path[4096];
	FILE *f;

	snprintf(path, sizeof(path), "%s/tests/fixtures/%s.so", build == NULL ? "." : build, name);
	f = fopen(path, "rb");
	CU_ASSERT_PTR_NOT_NULL_FATAL(f);
	file = (struct modfile_bytes){ bytes, fread(bytes, 1, sizeof(bytes), f) };
	fclose(f);
	CU_ASSERT_FATAL(file.len > 0 && file.len < sizeof(bytes));
	return bytes;
}

/* It is refused, with these words. */
static void refused(const char *words)
{
	struct modfile_module *m;

	why[0] = '\0';
	m = modfile_read_bytes(file, why);
	CU_ASSERT_PTR_NULL(m);
	CU_ASSERT_PTR_NOT_NULL(strstr(why, words));
	if (strstr(why, words) == NULL)
		fprintf(stderr, "expected '%s', found '%s'\n", words, why);
	modfile_module_free(m);
}

static void a_module_is_read(void)
{
	struct modfile_module *m;

	fixture("refuse_run");
	m = modfile_read_bytes(file, why);
	CU_ASSERT_PTR_NOT_NULL_FATAL(m);
	CU_ASSERT_STRING_EQUAL(m->head.name, "refuse_run");
	CU_ASSERT_EQUAL(m->note.major, KEEL_ABI_MAJOR);
	CU_ASSERT_EQUAL_FATAL(m->head.n_conf, 3);
	CU_ASSERT_STRING_EQUAL(m->conf[0].key, m->head.conf[0].key);
	CU_ASSERT(m->conf[0].doc != NULL && m->conf[0].size == sizeof(struct keel_conf_rule));
	CU_ASSERT_EQUAL_FATAL(m->head.n_taps, 1);
	CU_ASSERT_EQUAL(m->taps[0].point, KEEL_POINT_start_now);
	CU_ASSERT_PTR_NOT_NULL(m->taps[0].fn.any);
	CU_ASSERT_EQUAL_FATAL(m->n_needs, 1);
	CU_ASSERT_STRING_EQUAL(m->needs[0].klass, "job");
	CU_ASSERT_STRING_EQUAL(m->needs[0].name, "queue");
	CU_ASSERT_PTR_NULL(m->requires_modules[0]);
	modfile_module_free(m);
}

static void contributions_are_read(void)
{
	struct modfile_module *m;

	fixture("failing_init");
	m = modfile_read_bytes(file, why);
	CU_ASSERT_PTR_NOT_NULL_FATAL(m);
	CU_ASSERT_EQUAL_FATAL(m->head.n_contribs, 1);
	CU_ASSERT_STRING_EQUAL(m->contribs[0].kind, "SERVICE");
	CU_ASSERT_PTR_NOT_NULL_FATAL(m->contribs[0].known);
	CU_ASSERT(strlen(((struct keel_service_def *)m->contribs[0].def)->name) > 0);
	modfile_module_free(m);
}

static void what_is_no_module_is_named(void)
{
	unsigned char *bytes = fixture("hold");

	((Elf64_Ehdr *)bytes)->e_machine ^= 1;
	refused("another kind of machine");
	((Elf64_Ehdr *)bytes)->e_machine ^= 1;
	((Elf64_Ehdr *)bytes)->e_type = ET_EXEC;
	refused("not a shared object");
	bytes[1] = 'X';
	refused("not an ELF file");
	file.len = 10;
	refused("too short");
	CU_ASSERT_PTR_NULL(modfile_read("/nowhere/x.so", why));
	CU_ASSERT_PTR_NOT_NULL(strstr(why, "No such file"));
	CU_ASSERT_PTR_NULL(modfile_read("/dev/null", why));
	fixture("badabi");
	refused("module interface 99.0");
}

static void every_cut_is_refused_or_read(void)
{
	uint64_t whole;

	fixture("hold");
	whole = file.len;
	for (file.len = 0; file.len < whole; file.len += file.len < 1024 ? 1 : 61) {
		why[0] = '\0';
		struct modfile_module *m = modfile_read_bytes(file, why);

		CU_ASSERT(m != NULL || why[0] != '\0');
		modfile_module_free(m);
	}
}

/* Where the descriptor is in the file. */
static unsigned char *descriptor(unsigned char *bytes)
{
	const struct keel_module head = { .magic = KEEL_MAGIC, .abi_major = KEEL_ABI_MAJOR,
					  .abi_minor = KEEL_ABI_MINOR, .size = sizeof(head) };

	for (uint64_t i = 0; i + sizeof(head) <= file.len; i += 8)
		if (memcmp(bytes + i, &head, 12) == 0)
			return bytes + i;
	CU_FAIL_FATAL("no descriptor");
	return NULL;
}

/* What the pointer at `offset` of the descriptor will point to: the number in its relocation. */
static int64_t *target_of(unsigned char *bytes, uint64_t offset)
{
	const Elf64_Ehdr *e = (const void *)bytes;
	const Elf64_Phdr *p = (const void *)(bytes + e->e_phoff);
	uint64_t at = (uint64_t)(descriptor(bytes) - bytes) + offset, address = 0;

	for (unsigned i = 0; i < e->e_phnum; i++)
		if (p[i].p_type == PT_LOAD && at >= p[i].p_offset && at < p[i].p_offset + p[i].p_filesz)
			address = at - p[i].p_offset + p[i].p_vaddr;
	for (uint64_t i = 0; i + sizeof(Elf64_Rela) <= file.len; i += 8) {
		Elf64_Rela *r = (void *)(bytes + i);

		if (r->r_offset == address && r->r_info < 4096 && r->r_info > 0)
			return &r->r_addend;
	}
	CU_FAIL_FATAL("no relocation");
	return NULL;
}

static void wild_pointers_are_refused(void)
{
	static const struct {
		size_t offset;
		const char *words;
	} pointers[] = {
		{ offsetof(struct keel_module, name), "a text of its descriptor points to" },
		{ offsetof(struct keel_module, summary), "a text of its descriptor points to" },
		{ offsetof(struct keel_module, conf), "configuration rules" },
		{ offsetof(struct keel_module, needs), "its table of needs" },
		{ offsetof(struct keel_module, needs_end), "its table of needs" },
		{ offsetof(struct keel_module, taps), "table of taps" },
	};
	static const int64_t wild[] = { -1, -4096, 1ll << 40, INT64_MAX, INT64_MIN };

	for (size_t i = 0; i < sizeof(pointers) / sizeof(*pointers); i++)
		for (size_t n = 0; n < sizeof(wild) / sizeof(*wild); n++) {
			*target_of(fixture("refuse_run"), pointers[i].offset) = wild[n];
			refused(pointers[i].words);
		}
}

/* past sdk/modfile/descriptor.c ROWS_MAX, past sdk/modfile/descriptor.c STRIDE_MAX */
static void wild_numbers_are_refused(void)
{
	static const struct {
		size_t offset;
		uint32_t n;
		const char *words;
	} numbers[] = {
		{ offsetof(struct keel_module, size), 7, "wrong size" },
		{ offsetof(struct keel_module, size), UINT32_MAX, "wrong size" },
		{ offsetof(struct keel_module, size), 4097, "wrong size" },
		{ offsetof(struct keel_module, n_taps), 4097, "taps has a wrong size" },
		{ offsetof(struct keel_module, n_conf), UINT32_MAX, "configuration rules has a wrong size" },
		{ offsetof(struct keel_module, n_taps), 4096, "taps" },
		{ offsetof(struct keel_module, n_contribs), 1, "contributions is not in the file" },
		{ offsetof(struct keel_module, abi_major), 7, "do not agree" },
	};

	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++) {
		memcpy(descriptor(fixture("hold")) + numbers[i].offset, &numbers[i].n, sizeof(numbers[i].n));
		refused(numbers[i].words);
	}
}

/* past sdk/modfile/inside.h PHDRS_MAX, past sdk/modfile/image.c IMAGE_MAX */
static void too_large_an_image_is_refused(void)
{
	Elf64_Ehdr *e = (void *)fixture("hold");
	Elf64_Phdr *p = (void *)((unsigned char *)e + e->e_phoff), *last = p;

	for (unsigned i = 0; i < e->e_phnum; i++)
		if (p[i].p_type == PT_LOAD)
			last = &p[i];
	last->p_memsz = (256ull << 20) + 1;
	refused("program headers are damaged");
	last->p_memsz = 256ull << 20; /* and what stands before it */
	refused("it is larger than 256 MiB");
	e = (void *)fixture("hold");
	e->e_phnum = 1025;
	refused("program headers are damaged");
}

/* The file gets `n` letters and an end; the word at this offset of the descriptor points to them. */
static void long_text(size_t offset, size_t n)
{
	unsigned char *bytes = fixture("hold");
	const Elf64_Ehdr *e = (const void *)bytes;
	Elf64_Phdr *p = (void *)(bytes + e->e_phoff), *last = p;

	for (unsigned i = 0; i < e->e_phnum; i++)
		if (p[i].p_type == PT_LOAD)
			last = &p[i];
	*target_of(bytes, offset) = (int64_t)(last->p_vaddr + file.len - last->p_offset);
	memset(bytes + file.len, 'a', n);
	bytes[file.len + n] = '\0';
	file.len += n + 1;
	last->p_filesz = last->p_memsz = file.len - last->p_offset;
}

/* past sdk/modfile/descriptor.c NAME_LEN_MAX, past sdk/modfile/descriptor.c TEXT_LEN_MAX */
static void too_long_a_text_is_refused(void)
{
	struct modfile_module *m;

	for (size_t n = 65534; n <= 65535; n++) {
		long_text(offsetof(struct keel_module, summary), n);
		if (n == 65535) {
			refused("a text of its descriptor has no end");
			continue;
		}
		m = modfile_read_bytes(file, why);
		CU_ASSERT_PTR_NOT_NULL(m);
		modfile_module_free(m);
	}
	long_text(offsetof(struct keel_module, name), 64);
	refused("name");
}

/* past sdk/modfile/image.c RELR_MAX */
static void too_many_relocations_are_refused(void)
{
	unsigned char *bytes = fixture("hold");
	const Elf64_Ehdr *e = (const void *)bytes;
	Elf64_Phdr *p = (void *)(bytes + e->e_phoff), *last = p;
	Elf64_Dyn *dynamic = NULL;

	for (unsigned i = 0; i < e->e_phnum; i++) {
		if (p[i].p_type == PT_LOAD)
			last = &p[i];
		if (p[i].p_type == PT_DYNAMIC)
			dynamic = (void *)(bytes + p[i].p_offset);
	}
	CU_ASSERT_PTR_NOT_NULL_FATAL(dynamic);
	for (; dynamic->d_tag != DT_NULL; dynamic++) {
		if (dynamic->d_tag == DT_RELACOUNT)
			*dynamic = (Elf64_Dyn){ .d_tag = 35 /* DT_RELRSZ */, .d_un.d_val = (1 << 20) + 8 };
		if (dynamic->d_tag == DT_FLAGS_1)
			*dynamic = (Elf64_Dyn){ .d_tag = 36 /* DT_RELR */, .d_un.d_ptr = last->p_vaddr + last->p_memsz };
	}
	last->p_memsz += 2 << 20;
	refused("its relocations are damaged");
}

static void texts_may_be_shown(void)
{
	static const struct {
		const char *raw, *shown;
	} texts[] = {
		{ "plain", "plain" },
		{ "two\nlines\t", "two lines " },
		{ "\033[31mred\177", "?[31mred?" },
		{ "gr\303\274n \342\202\254 \360\237\220\204", "gr\303\274n \342\202\254 \360\237\220\204" },
		{ "\302\233m", "??m" },             /* a control character of two bytes */
		{ "\300\257", "??" },               /* a longer form than needed */
		{ "\355\240\200", "???" },          /* half of a pair */
		{ "cut\342\202", "cut??" },
		{ "\365\200\200\200", "????" },
	};
	char text[64];

	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		strcpy(text, texts[i].raw);
		text_make_printable(text, strlen(text));
		CU_ASSERT_STRING_EQUAL(text, texts[i].shown);
	}
}

TESTS_MAIN("modfile", TEST(a_module_is_read), TEST(contributions_are_read), TEST(what_is_no_module_is_named),
	   TEST(every_cut_is_refused_or_read), TEST(wild_pointers_are_refused), TEST(wild_numbers_are_refused), TEST(too_large_an_image_is_refused),
	   TEST(too_long_a_text_is_refused), TEST(too_many_relocations_are_refused),
	   TEST(texts_may_be_shown))
