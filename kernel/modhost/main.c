/* SPDX-License-Identifier: Apache-2.0
 *
 * main.c - keelson-modhost: started by keelsond for a module with isolation = "process"; its socket is fd 3.
 * It ends when the daemon does.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "modhost/host.h"
#include "util/version.h"

static void other(struct host *h, int64_t what, struct talk_in *in)
{
	switch (what) {
	case TALK_NOTE:
		note_run(h, in);
		break;
	case TALK_CANCEL:
		call_cancel(h, in);
		break;
	case TALK_ASKED:
		req_take(h, in);
		break;
	case TALK_GONE:
		req_gone_told(h, in);
		break;
	case TALK_DRAINED:
		req_drained_told(h, in);
		break;
	case TALK_DURABLE:
		durable_told(h, in);
		break;
	case TALK_OUTCOME:
		raise_told(h, in);
		break;
	}
}

/* What the daemon waits to be heard; a note is reported, many at once. */
static bool is_owed(int64_t what)
{
	return what >= TALK_OUTCOME && what <= TALK_DURABLE;
}

static void owed(struct host *h, int64_t what, struct talk_in *in, uint64_t corr)
{
	other(h, what, in);
	talk_begin(&h->out);
	talk_put_int(&h->out, 0);
	host_reply(h, corr);
}

static void handle(struct host *h, struct message *m)
{
	struct talk_in in;
	int64_t what;

	talk_open(&in, m->f.body, m->f.len);
	what = talk_int(&in);
	handles_end(h);
	if (m->f.type == WIRE_EVENT)
		other(h, what, &in);
	else if (m->f.type != WIRE_REQUEST)
		return;
	else if (what == TALK_CALL)
		call_run(h, &in, m->f.corr);
	else if (what == TALK_RESUME)
		call_resume(h, &in, m->f.corr);
	else if (is_owed(what))
		owed(h, what, &in, m->f.corr);
	else
		life(h, what, &in, m->f.corr);
	handles_end(h);
}

#define ROUNDS 64 /* before timers and what else waits have their turn */

void host_readable(struct host *h)
{
	struct message *m;

	host_read(h);
	while (!h->over && (m = host_next(h)) != NULL) {
		handle(h, m);
		free(m);
		notes_report(h, false);
	}
	notes_report(h, true);
}

static void readable(void *arg, int events)
{
	struct host *h = arg;
	int rounds = 0;

	(void)events;
	do {
		host_readable(h);
	} while (!h->over && ++rounds < ROUNDS && host_lingers(h));
	if (h->over)
		loop_stop(h->parts.loop);
}

static bool option(const char *arg, const char *name, const char **ret)
{
	size_t len = strlen(name);

	if (strncmp(arg, name, len) != 0 || arg[len] != '=')
		return false;
	*ret = arg + len + 1;
	return true;
}

static int options_parse(int argc, char **argv, struct options *o)
{
	const char *memory = "0";

	for (int i = 1; i < argc; i++) {
		if (!option(argv[i], "--name", &o->name) && !option(argv[i], "--user", &o->user) &&
		    !option(argv[i], "--memory", &memory))
			return -1;
	}
	o->memory = strtoll(memory, NULL, 10);
	return o->name != NULL ? 0 : -1;
}

int main(int argc, char **argv)
{
	struct options o = { 0 };
	struct host h = { .fd = TALK_FD };

	if (argc == 2 && strcmp(argv[1], "--version") == 0)
		return puts("pbs_version = " KEELSON_VERSION_TEXT) < 0;
	if (options_parse(argc, argv, &o) < 0) {
		fprintf(stderr, "keelson-modhost is started by keelsond, for a module with isolation = "
				"\"process\"; see keelson-modhost(8)\n");
		return 2;
	}
	h.owner.pub.name = o.name;
	h.owner.parts = &h.parts;
	frame_reader_init(&h.in, TALK_BODY_MAX_DOWN);
	if (loop_create(&h.parts.loop) < 0 ||
	    loop_watch(h.parts.loop, h.fd, LOOP_READABLE, readable, &h, &h.watch) < 0)
		return 1;
	confine(&o, &h.refused); /* told when the daemon asks for the module */
	loop_run(h.parts.loop);
	return 0;
}
