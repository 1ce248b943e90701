/* SPDX-License-Identifier: Apache-2.0
 *
 * bench_object.c - what a queued job costs the object engine: bytes, and microseconds to answer,
 * encode and decode. One JSON line per number. Usage: bench_object [objects]
 */
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "object/objects.h"
#include "registry/registry.h"
#include "msg/msg.h"

#define PART 1000 /* objects per answer */

/* name, type, value */
static const char *const rows[][3] = {
	{ "Job_Name", "string", "STDIN" },
	{ "Job_Owner", "string", "user17@login1.example.org" },
	{ "job_state", "string", "Q" },
	{ "queue", "string", "workq" },
	{ "server", "string", "svr" },
	{ "Checkpoint", "string", "u" },
	{ "ctime", "long", "1790000000" },
	{ "Error_Path", "string", "login1.example.org:/home/user17/project/STDIN.e123456" },
	{ "Hold_Types", "string", "n" },
	{ "Join_Path", "string", "n" },
	{ "Keep_Files", "string", "n" },
	{ "Mail_Points", "string", "a" },
	{ "mtime", "long", "1790000000" },
	{ "Output_Path", "string", "login1.example.org:/home/user17/project/STDIN.o123456" },
	{ "Priority", "long", "0" },
	{ "qtime", "long", "1790000000" },
	{ "Rerunable", "bool", "True" },
	{ "Resource_List", "string", "ncpus=4,mem=8gb,nodect=1,place=pack,select=1:ncpus=4:mem=8gb" },
	{ "schedselect", "string", "1:ncpus=4:mem=8gb" },
	{ "substate", "long", "10" },
	{ "Variable_List", "string_array",
	  "PBS_O_HOME=/home/user17,PBS_O_LANG=en_US.UTF-8,PBS_O_LOGNAME=user17,"
	  "PBS_O_PATH=/usr/local/bin:/usr/bin:/bin,PBS_O_MAIL=/var/mail/user17,"
	  "PBS_O_SHELL=/bin/bash,PBS_O_WORKDIR=/home/user17/project,PBS_O_SYSTEM=Linux,"
	  "PBS_O_QUEUE=workq,PBS_O_HOST=login1.example.org" },
	{ "euser", "string", "user17" },
	{ "egroup", "string", "users" },
	{ "hashname", "string", "123456.svr" },
	{ "queue_rank", "long", "1790000000123456" },
	{ "queue_type", "string", "E" },
	{ "comment", "string", "Not Running: Insufficient amount of resource: ncpus" },
	{ "etime", "long", "1790000000" },
	{ "run_count", "long", "0" },
	{ "eligible_time", "time", "90" },
	{ "accrue_type", "long", "2" },
	{ "Submit_arguments", "string", "<jsdl-hpcpa:Argument>-l</jsdl-hpcpa:Argument>" },
	{ "project", "string", "_pbs_project_default" },
	{ "Submit_Host", "string", "login1.example.org" },
	{ "umask", "long", "22" },
};
#define N_ROWS (sizeof(rows) / sizeof(rows[0]))

static struct keel_attr_def attrs[N_ROWS];
static const struct keel_class_def item_class = { sizeof(item_class), KEEL_CLASS_SAVE, "item", "", 0, 0 };
static struct parts parts;
static struct owner owner = { .pub.name = "bench", .parts = &parts };
static const struct keel_object_api *api;

static void no_store(void *arg, struct keel_obj *o)
{
	(void)arg, (void)o;
}

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static void say(const char *what, double value, const char *unit)
{
	printf("{\"bench\":\"object\",\"name\":\"%s\",\"value\":%.3f,\"unit\":\"%s\"}\n", what, value,
	       unit);
}

static void engine(void)
{
	struct keel_contrib list[N_ROWS + 1] = { KEEL_ROW(CLASS, item_class) };
	struct keel_err err = { 0 };

	for (uint32_t i = 0; i < N_ROWS; i++) {
		attrs[i] = (struct keel_attr_def){ .size = sizeof(attrs[0]), .flags = KEEL_ATTR_SAVE,
						   .klass = "item", .name = rows[i][0],
						   .type = rows[i][1], .order = (int32_t)i,
						   .read_roles = KEEL_EVERYBODY };
		list[i + 1] = (struct keel_contrib)KEEL_ROW(ATTR, attrs[i]);
	}
	if (registry_create(&parts.registry) < 0 ||
	    objects_create(parts.registry, no_store, NULL, &parts.objects) < 0 ||
	    registry_add(parts.registry, &owner, list, N_ROWS + 1, &err) < 0) {
		fprintf(stderr, "bench_object: %s\n", err.text);
		exit(1);
	}
	api = registry_service(parts.registry, "object", 0, NULL, NULL);
}

static void fill(uint32_t n)
{
	const struct keel_attr *a[N_ROWS];
	size_t before;
	double start;

	for (uint32_t i = 0; i < N_ROWS; i++)
		a[i] = api->attr(&owner.pub, "item", rows[i][0]);
	before = mallinfo2().uordblks;
	start = now();
	for (uint32_t k = 0; k < n; k++) {
		struct keel_obj *o;
		char id[32];

		snprintf(id, sizeof(id), "%u.svr", k);
		o = api->draft(&owner.pub, "item", id, NULL);
		for (uint32_t i = 0; i < N_ROWS; i++)
			if (!o || api->set_text(o, a[i], KEEL_SET, NULL, rows[i][2], NULL))
				exit(1);
		if (api->publish(o))
			exit(1);
	}
	say("create", (now() - start) * 1e6 / n, "us/object");
	say("memory", (double)(mallinfo2().uordblks - before) / n, "bytes/object");
}

static void pack(uint32_t n)
{
	struct keel_view *view = api->view(&owner.pub, "item", NULL, 0, KEEL_USER);
	struct keel_cursor *c = api->cursor(&owner.pub, "item");
	const struct keel_msg_api *msg = &msg_api;
	struct keel_out *out = NULL;
	double start = now(), bytes = 0;
	struct keel_obj *o;
	uint32_t k = 0;

	for (; (o = api->next(c)); k++) {
		if (k % PART == 0) {
			out = msg->out(&owner.pub);
			msg->open_array(out, "objects");
		}
		if (api->pack(o, NULL, view, out))
			exit(1);
		if ((k + 1) % PART == 0 || k + 1 == n) {
			bytes += msg->length(out);
			msg->drop(out);
		}
	}
	say("pack", (now() - start) * 1e6 / n, "us/object");
	say("answer", bytes / n, "bytes/object");
	api->cursor_close(c);
	api->view_close(view);
}

struct row {
	char id[32];
	void *bytes;
	uint32_t len;
};

static struct row *encode(uint32_t n)
{
	struct row *row = calloc(n, sizeof(*row));
	struct keel_cursor *c = api->cursor(&owner.pub, "item");
	struct keel_obj *o;
	double start = now(), bytes = 0;

	for (uint32_t k = 0; (o = api->next(c)); k++) {
		struct keel_store_row stored;

		if (objects_encode(o, &stored) < 0)
			exit(1);
		snprintf(row[k].id, sizeof(row[k].id), "%s", stored.id);
		row[k].len = stored.len;
		row[k].bytes = malloc(row[k].len);
		memcpy(row[k].bytes, stored.bytes, row[k].len);
		bytes += row[k].len;
	}
	say("encode", (now() - start) * 1e6 / n, "us/object");
	say("row", bytes / n, "bytes/object");
	api->cursor_close(c);
	return row;
}

static void decode(const struct row *row, uint32_t n)
{
	double start = now();

	for (uint32_t k = 0; k < n; k++)
		if (objects_decode(parts.objects, "item", row[k].id, row[k].bytes, row[k].len, NULL) < 0)
			exit(1);
	say("decode", (now() - start) * 1e6 / n, "us/object");
}

static void end(void)
{
	registry_remove(parts.registry, &owner);
	objects_destroy(parts.objects);
	registry_destroy(parts.registry);
}

int main(int argc, char **argv)
{
	uint32_t n = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : 100000;
	struct row *row;

	if (n == 0) {
		fprintf(stderr, "usage: bench_object [objects]\n");
		return 2;
	}
	engine();
	fill(n);
	pack(n);
	row = encode(n);
	end();
	engine();
	decode(row, n);
	end();
	for (uint32_t k = 0; k < n; k++)
		free(row[k].bytes);
	free(row);
	return 0;
}
