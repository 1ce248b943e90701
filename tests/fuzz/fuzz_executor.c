/* SPDX-License-Identifier: Apache-2.0
 *
 * fuzz_executor.c - what a host reads of a job: its hosts and node numbers in a message, its diary after a restart, the
 * descriptions of the task and of tasks beside it; and what a server spreads over hosts.
 *
 * Parts of the input are ended by a byte 0xff.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "executor/part.h"
#include "executor/shepherd/shepherd.h"
#include "executor/spread.h"
#include "harness.h"
#include "parts.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define PARTS 4
#define LINES 16

static void check(const struct part *p)
{
	const struct keel_part *v = &p->view;

	if (v->n_hosts == 0 || v->index >= v->n_hosts)
		abort();
	for (uint32_t i = 0; i < v->n_hosts; i++)
		if (strlen(v->hosts[i].name) > 255 || v->hosts[i].vnodes == NULL)
			abort();
	for (uint32_t i = 0; i < v->n_nodes; i++)
		if (v->nodes[i] >= v->n_hosts)
			abort();
}

static void as_hosts(char *lines, const char *nodes)
{
	struct part *p = part_alone("here", 1);
	const char *line[LINES];
	char *rest = lines, *numbers;
	uint32_t n = 0;

	while (rest != NULL && n < LINES)
		line[n++] = strsep(&rest, "\n");
	numbers = part_nodes_of_file(line, n, nodes);
	if (part_set_hosts(p, line, n, nodes) == 0)
		check(p);
	if (numbers != NULL && part_set_hosts(p, line, n, numbers) == 0)
		check(p);
	part_free(p);
	free(numbers);
}

static char *dir; /* of diaries */

static void dir_remove(void)
{
	scratch_remove(dir);
	free(dir);
}

static void as_diary(const uint8_t *bytes, size_t len)
{
	char path[4096];
	struct part *p;
	int fd;

	snprintf(path, sizeof(path), "%s/1.TK", dir);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0 || write(fd, bytes, len) != (ssize_t)len)
		abort();
	close(fd);
	p = part_read(dir, "1", "here");
	if (p != NULL)
		check(p);
	part_free(p);
}

static void as_spread(char *const *texts)
{
	struct spread_of of = { .exec_host = texts[0], .exec_vnode = texts[1], .select = texts[2] };
	struct spread s;
	char *nodes;

	if (spread_make(&of, &s) < 0)
		return;
	for (uint32_t i = 0; i < s.n_nodes; i++)
		if (s.node[i] >= s.n_hosts)
			abort();
	nodes = s.n_nodes < 10000 ? spread_nodes_text(&s) : NULL;
	free(nodes);
	spread_fini(&s);
}

static void as_order(const uint8_t *bytes, size_t len)
{
	char *job[] = { "PBS_JOBID=1.s", "A=1", NULL };
	struct spec s = { .env = job, .n_env = 2 };
	struct order o;
	bool has_id = false;
	int fd = memfd_create("order", MFD_CLOEXEC);

	if (fd < 0 || write(fd, bytes, len) != (ssize_t)len)
		abort();
	if (order_load(&s, fd, &o) == 0) {
		for (char **e = o.env; *e != NULL; e++)
			has_id |= strncmp(*e, "PBS_JOBID=", 10) == 0;
		if (o.n_args == 0 || !has_id)
			abort();
		order_fini(&o);
	}
	close(fd);
}

static void as_description(const uint8_t *bytes, size_t len)
{
	char *copy = malloc(len + 1);
	struct spec s;

	if (copy == NULL)
		abort();
	memcpy(copy, bytes, len);
	if (spec_decode(copy, len, &s) == 0)
		spec_fini(&s);
	free(copy);
}

/* A beginning that the decoders like, then the input with blanks as ends of strings. */
static void as_strings(const uint8_t *data, size_t size)
{
	static const char begin[] = "arg=x\0env=PBS_JOBID=2\0own=B=2";
	uint8_t *bytes = malloc(sizeof(begin) + size + 5);

	if (bytes == NULL)
		abort();
	memcpy(bytes, begin, sizeof(begin));
	for (size_t i = 0; i < size; i++)
		bytes[sizeof(begin) + i] = data[i] == ' ' || data[i] == 0xff ? 0 : data[i];
	memcpy(bytes + sizeof(begin) + size, "end=", 5);
	as_order(bytes, sizeof(begin) + size + 5);
	as_description(bytes, sizeof(begin) + size + 5);
	free(bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *at = data;
	char *texts[PARTS];

	if (dir == NULL) {
		dir = scratch_new();
		atexit(dir_remove);
	}
	for (int i = 0; i < PARTS; i++)
		texts[i] = text_take(&at, data + size);
	as_spread(texts);
	as_hosts(texts[0], texts[1]);
	as_diary(data, size);
	as_order(data, size);
	as_description(data, size);
	as_strings(data, size);
	for (int i = 0; i < PARTS; i++)
		free(texts[i]);
	return 0;
}
