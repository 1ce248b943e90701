/* SPDX-License-Identifier: Apache-2.0
 *
 * resv.c - requests about reservations.
 *
 * A server whose modules have no reservations does not know these requests: then the calls fail with PBSE_NOSUP.
 *
 * A submission that waits for a decision (`interactive`) has the id as a PART as soon as the reservation exists. When the
 * server restarts, or is lost, after that, the decision is awaited by id; nothing is submitted twice.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "call.h"
#include "connection.h"
#include "error_text.h"
#include "pbs_error.h"
#include "resv_state.h"
#include "result.h"
#include "verify.h"

static const char *or_empty(const char *text)
{
	return text == NULL ? "" : text;
}

/* A daemon of a host that reaches no server says so with a text of its own, which stays. */
static int known(int c, int code)
{
	const char *text = pbs_geterrmsg(c);
	bool plain = text == NULL || strcmp(text, error_text(PBSE_UNKREQ)) == 0;

	return code == PBSE_UNKREQ && plain ? connection_fail_code(connection_find(c), PBSE_NOSUP) : code;
}

/* One request whose reply is a text. */
struct asked {
	struct result_text reply, id;
};

static int reply_take(const struct pack_value *body, void *arg)
{
	struct asked *a = arg;

	return result_text_reply(body, &a->reply);
}

static int part_take(const struct pack_value *body, void *arg)
{
	struct asked *a = arg;

	return a->id.text == NULL ? result_text_reply(body, &a->id) : 0;
}

static int64_t clock_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec;
}

/* The seconds of `interactive` that are left; negative: the reservation is deleted when they are over. */
static int64_t seconds_left(const struct attropl *attrib, int64_t since)
{
	int64_t seconds = 0, gone = clock_s() - since;

	for (; attrib != NULL; attrib = attrib->next)
		if (attrib->name != NULL && strcmp(attrib->name, ATTR_inter) == 0 && attrib->value != NULL)
			seconds = strtol(attrib->value, NULL, 10);
	if (seconds < 0)
		return seconds + gone < -1 ? seconds + gone : -1;
	return seconds > gone ? seconds - gone : 0;
}

/* Waits for the decision about a->id, over restarts of the server. One that is not there any more was denied meanwhile. */
static int await(int c, struct asked *a, int64_t seconds, bool alters)
{
	struct listener l = { .reply = reply_take, .arg = a, .again = true };
	int code = CALL(c, "resv_wait", &l, arg_str("id", a->id.text), arg_int("seconds", seconds),
			arg_int("alters", alters));

	if (code != PBSE_UNKRESVID)
		return code;
	if (asprintf(&a->reply.text, "%s DENIED", a->id.text) < 0) {
		a->reply.text = NULL;
		return code;
	}
	connection_clear(connection_find(c));
	return 0;
}

/* Returns the text of the reply, which the caller frees; NULL: an error. */
static char *ask(int c, const char *request, const struct arg *args, size_t n, const struct attropl *attrib)
{
	struct asked a = { { .key = "reply" }, { .key = "id" } };
	struct listener l = { .part = part_take, .reply = reply_take, .arg = &a };
	int64_t since = clock_s();
	int code = call(c, request, args, n, &l);

	if (a.id.text != NULL && (code == PBSE_SVRDOWN || code == PBSE_PROTOCOL))
		code = await(c, &a, seconds_left(attrib, since), strcmp(request, "resv_alter") == 0);
	known(c, code);
	free(a.id.text);
	return a.reply.text;
}

char *pbs_submit_resv(int c, struct attropl *attrib, const char *extend)
{
	const struct arg args[] = { arg_attrs("attrs", attrib), arg_str("extend", extend) };

	return verify(c, VERIFY_RESV, attrib) == 0 ? ask(c, "resv_submit", args, 2, attrib) : NULL;
}

char *pbs_modify_resv(int c, const char *id, struct attropl *attrib, const char *extend)
{
	const struct arg args[] = { arg_str("id", or_empty(id)), arg_attrs("attrs", attrib), arg_str("extend", extend) };

	return verify(c, VERIFY_RESV_ALTER, attrib) == 0 ? ask(c, "resv_alter", args, 3, attrib) : NULL;
}

int pbs_delresv(int c, const char *id, const char *extend)
{
	return known(c, CALL(c, "resv_delete", NULL, arg_str("id", or_empty(id)), arg_str("extend", extend)));
}

int pbs_confirmresv(int c, const char *id, const char *location, unsigned long start, const char *extend)
{
	return known(c, CALL(c, "resv_confirm", NULL, arg_str("id", or_empty(id)), arg_str("location", or_empty(location)),
			     arg_int("start", (int64_t)start), arg_str("extend", extend)));
}

static const char *const states[] = {
	[RESV_NONE] = "RESV_NONE",
	[RESV_UNCONFIRMED] = "RESV_UNCONFIRMED",
	[RESV_CONFIRMED] = "RESV_CONFIRMED",
	[RESV_WAIT] = "RESV_WAIT",
	[RESV_TIME_TO_RUN] = "RESV_TIME_TO_RUN",
	[RESV_RUNNING] = "RESV_RUNNING",
	[RESV_FINISHED] = "RESV_FINISHED",
	[RESV_BEING_DELETED] = "RESV_BEING_DELETED",
	[RESV_DELETED] = "RESV_DELETED",
	[RESV_DELETING_JOBS] = "RESV_DELETING_JOBS",
	[RESV_DEGRADED] = "RESV_DEGRADED",
	[RESV_BEING_ALTERED] = "RESV_BEING_ALTERED",
	[RESV_IN_CONFLICT] = "RESV_IN_CONFLICT",
};

/* A number is shorter than any of the names, so it is written over it. */
static void state_put(char *value)
{
	for (unsigned i = 0; i < sizeof(states) / sizeof(states[0]); i++) {
		if (strcmp(states[i], value) != 0)
			continue;
		*value = (char)(i < 10 ? '0' + i : '1');
		value[1] = (char)(i < 10 ? '\0' : '0' + i - 10);
		value[2] = '\0';
		return;
	}
}

void resv_numbers(struct batch_status *one)
{
	for (struct attrl *a = one->attribs; a != NULL; a = a->next)
		if (strcmp(a->name, ATTR_resv_state) == 0 && a->value != NULL)
			state_put(a->value);
}
