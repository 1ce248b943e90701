/* SPDX-License-Identifier: Apache-2.0
 *
 * desk.c - the users of the simulated server: a connection each, questions and their answers.
 */
#include <stdlib.h>
#include <string.h>

#include "keel/wire.h"
#include "msg/msg.h"
#include "sim.h"
#include "wire/frame.h"

const char *const user_names[USERS] = { "root", "adam", "beth", "carl", "dora", "olga" };
static const char *const group_names[USERS] = { "root", "blue", "blue", "green", "green", "blue" };

struct seat {
	struct sim *sim;
	uint32_t user;
};

static void question_end(struct sim *s, struct question *q, int32_t code, const struct keel_msg *m)
{
	struct question told = *q;

	HASH_DEL(s->questions, q);
	free(q);
	trace(s, "answer %llu %s: %d", (unsigned long long)told.corr, told.what, code);
	if (told.fn != NULL)
		told.fn(s, told.arg, code, m);
}

static void answered(void *arg, const struct frame *f)
{
	struct sim *s = arg;
	struct question *q;
	struct keel_msg *m;

	HASH_FIND(hh, s->questions, &f->corr, sizeof(f->corr), q);
	if (s->deaf || q == NULL || f->type != WIRE_REPLY || msg_open(f->body, f->len, &m) < 0)
		return;
	question_end(s, q, (int32_t)msg_api.integer(m, "code", -1), m);
	msg_destroy(m);
}

static void bytes_came(void *arg, const char *bytes, size_t len)
{
	struct seat *seat = arg;

	if (len == 0)
		seat->sim->client[seat->user] = NULL;
	else
		frames_each(bytes, len, answered, seat->sim);
}

void desk_open(struct sim *s)
{
	static struct seat seats[USERS]; /* one simulation per process */

	for (uint32_t i = 0; i < USERS; i++) {
		struct router_guest g = { .uid = i == 0 ? 0 : 20000 + i, .gid = i == 0 ? 0 : 20000 + i,
					  .user = user_names[i], .group = group_names[i],
					  .send = bytes_came, .arg = &seats[i] };

		seats[i] = (struct seat){ s, i };
		if (router_guest(s->parts->router, &g, &s->client[i]) < 0)
			sim_wrong(s, "no seat for %s", user_names[i]);
	}
}

void desk_close(struct sim *s)
{
	struct question *q, *next;

	memset(s->client, 0, sizeof(s->client));
	HASH_ITER(hh, s->questions, q, next)
		question_end(s, q, -1, NULL);
}

/* ---- questions ---------------------------------------------------------------------------------- */

struct keel_out *ask_begin(const char *request)
{
	struct keel_out *o = out_create();

	out_put_str(o, "req", request);
	return o;
}

void ask_attrs(struct keel_out *o)
{
	msg_api.open_array(o, "attrs");
}

void ask_attr(struct keel_out *o, const char *name, const char *resource, const char *value, int op)
{
	msg_api.open_list(o);
	msg_api.add_str(o, name);
	msg_api.add_str(o, resource);
	msg_api.add_str(o, value);
	msg_api.add_int(o, op);
	msg_api.close(o);
}

void ask(struct sim *s, uint32_t user, struct keel_out *o, const char *what, answer_fn *fn, void *arg)
{
	struct question *q = calloc(1, sizeof(*q));
	const char *frame;
	size_t len;

	*q = (struct question){ .corr = ++s->corr, .asked_ms = s->now_ms, .user = user, .fn = fn,
				.arg = arg };
	snprintf(q->what, sizeof(q->what), "%s", what);
	HASH_ADD(hh, s->questions, corr, sizeof(q->corr), q);
	trace(s, "%s asks %llu %s", user_names[user], (unsigned long long)q->corr, what);
	frame = out_frame(o, WIRE_REQUEST, q->corr, &len);
	if (s->client[user] == NULL || frame == NULL)
		question_end(s, q, -1, NULL);
	else
		sim_enter(s, IN_FRAME, user, NULL, frame, len);
	out_drop(o);
}

struct waited {
	bool done;
	int32_t code;
	char *text;
	size_t size;
};

static void waited_for(struct sim *s, void *arg, int32_t code, const struct keel_msg *m)
{
	struct waited *w = arg;
	const char *text = m != NULL ? msg_api.str(m, "text") : NULL;
	const char *id = m != NULL ? msg_api.str(m, "id") : NULL;

	(void)s;
	w->done = true;
	w->code = code;
	if (w->text != NULL)
		snprintf(w->text, w->size, "%s", id != NULL ? id : text != NULL ? text : "");
}

static struct waited *awaited; /* by the one who waits in this process */

static bool still_waits(struct sim *s)
{
	(void)s;
	return !awaited->done;
}

int32_t ask_wait(struct sim *s, uint32_t user, struct keel_out *o, const char *what, char *text,
		 size_t size)
{
	struct waited w = { .text = text, .size = size };

	awaited = &w;
	ask(s, user, o, what, waited_for, &w);
	if (!sim_run_while(s, still_waits, s->now_ms + 600000) && !w.done)
		sim_wrong(s, "no answer to %s", what);
	return w.code;
}

int32_t ask_manage(struct sim *s, int cmd, int obj, const char *name, const char *attr,
		   const char *resource, const char *value, int op)
{
	struct keel_out *o = ask_begin("manage");
	char what[96], text[256] = "";
	int32_t code;

	out_put_int(o, "cmd", cmd);
	out_put_int(o, "obj", obj);
	out_put_str(o, "name", name);
	ask_attrs(o);
	if (attr != NULL)
		ask_attr(o, attr, resource, value, op);
	msg_api.close(o);
	snprintf(what, sizeof(what), "qmgr %d %d %s %s%s%s %s", cmd, obj, name, attr ? attr : "",
		 resource ? "." : "", resource ? resource : "", value ? value : "");
	code = ask_wait(s, 0, o, what, text, sizeof(text));
	if (code != 0)
		trace(s, "refused: %d %s", code, text);
	return code;
}
