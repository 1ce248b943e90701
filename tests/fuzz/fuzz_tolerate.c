/* SPDX-License-Identifier: Apache-2.0
 *
 * fuzz_tolerate.c - any texts as a select, an exec_vnode, a rule by which chunks grow, and hosts that failed: what is computed of
 * them is read again.
 *
 * Parts of the input are ended by a byte 0xff.
 */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "parts.h"
#include "tolerate-node-failures/chunks.h"
#include "tolerate-node-failures/increment.h"
#include "tolerate-node-failures/keep.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void as_select(const char *select, const char *rule)
{
	struct keel_text grown, counts;
	struct chunks c;
	bool good = chunks_of_select(select, &c) == 0;

	if (good && c.n == 0)
		abort();
	chunks_fini(&c);
	keel_text_init(&grown);
	keel_text_init(&counts);
	if (increment_chunks(select, rule, &grown) == 0 && !grown.failed) {
		if (chunks_of_select(grown.data, &c) < 0 && good)
			abort();
		chunks_fini(&c);
		increment_counts_of(grown.data, select, &counts);
	}
	keel_text_fini(&grown);
	keel_text_fini(&counts);
}

static uint32_t host_of(void *arg, const char *vnode)
{
	const char *bad = arg;

	return *vnode != '\0' && strchr(bad, *vnode) != NULL ? KEEP_NOT : (uint32_t)(unsigned char)*vnode % 3;
}

static void as_job(const char *exec, const char *select, const char *wish, char *bad)
{
	static const char *const words[] = { "mem" };
	struct keep_job job = { .exec_vnode = exec, .schedselect = select, .host_of = host_of, .arg = bad, .words = words, .n_words = 1 };
	struct keel_text left, left_select, why;
	struct chunks c;

	keel_text_init(&left);
	keel_text_init(&left_select);
	keel_text_init(&why);
	if (keep_select(&job, wish, &left, &left_select, &why) == 0) {
		if (chunks_of_exec(left.data, &c) < 0)
			abort();
		chunks_fini(&c);
	}
	keel_text_fini(&left);
	keel_text_fini(&left_select);
	keel_text_init(&left);
	keel_text_init(&left_select);
	keep_good(&job, &left, &left_select);
	keel_text_fini(&left);
	keel_text_fini(&left_select);
	keel_text_fini(&why);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char good[] = "(a:ncpus=2:mem=1kb)+(b:ncpus=1+c:ncpus=3)+(d:ncpus=1)", wish[] = "1:ncpus=2+2:ncpus=1";
	const uint8_t *at = data;
	char *text[4];

	for (int i = 0; i < 4; i++)
		text[i] = text_take(&at, data + size);
	as_select(text[0], text[1]);
	as_select("2:ncpus=1+3:mem=1kb", text[0]);
	as_job(text[0], text[1], text[2], text[3]);
	as_job(good, NULL, text[0], text[1]);
	as_job(text[0], NULL, wish, text[1]);
	as_job(good, text[1], wish, text[0]);
	for (int i = 0; i < 4; i++)
		free(text[i]);
	return 0;
}
