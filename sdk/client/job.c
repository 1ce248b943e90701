/* SPDX-License-Identifier: Apache-2.0
 *
 * job.c - requests about one job whose reply is only a code.
 */
#include <stdlib.h>
#include <string.h>

#include "call.h"
#include "connection.h"
#include "pbs_error.h"
#include "prepare.h"
#include "result.h"
#include "verify.h"

static const char *or_empty(const char *text)
{
	return text == NULL ? "" : text;
}

static const char *or_user_hold(const char *holds)
{
	return holds == NULL || *holds == '\0' ? USER_HOLD : holds;
}

/* What `keep_select=` of an extend has; NULL: none. */
static const char *kept(const char *extend)
{
	static const char word[] = "keep_select=";

	return extend != NULL && strncmp(extend, word, sizeof(word) - 1) == 0 ? extend + sizeof(word) - 1 : NULL;
}

static int alter(int c, const char *id, struct attrl *attrib, const char *extend, bool wait)
{
	const struct attropl *given = (const struct attropl *)attrib;
	struct attropl *list;
	struct arg args[3];
	int ret;

	ret = verify(c, VERIFY_ALTER, given);
	if (ret != 0)
		return ret;
	ret = prepare_job(given, &list);
	if (ret < 0)
		return connection_fail_code(connection_find(c), -ret);
	args[0] = arg_str("id", or_empty(id));
	args[1] = arg_attrs("attrs", list);
	args[2] = arg_str("extend", extend);
	ret = wait ? call(c, "alter", args, 3, NULL) : call_without_reply(c, "alter", args, 3);
	prepare_free(list);
	return ret;
}

int pbs_alterjob(int c, const char *id, struct attrl *attrib, const char *extend)
{
	return alter(c, id, attrib, extend, true);
}

int pbs_asyalterjob(int c, const char *id, struct attrl *attrib, const char *extend)
{
	return alter(c, id, attrib, extend, false);
}

#define JOB_CALL(function, request, parameters, ...)           \
	int function parameters                                \
	{                                                      \
		return CALL(c, request, NULL, __VA_ARGS__);    \
	}
JOB_CALL(pbs_deljob, "delete", (int c, const char *id, const char *extend), arg_str("id", or_empty(id)),
	 arg_str("extend", extend))
JOB_CALL(pbs_holdjob, "hold", (int c, const char *id, const char *holds, const char *extend), arg_str("id", or_empty(id)),
	 arg_str("holds", or_user_hold(holds)), arg_str("extend", extend))
JOB_CALL(pbs_rlsjob, "release", (int c, const char *id, const char *holds, const char *extend), arg_str("id", or_empty(id)),
	 arg_str("holds", or_user_hold(holds)), arg_str("extend", extend))
JOB_CALL(pbs_movejob, "move", (int c, const char *id, const char *destination, const char *extend),
	 arg_str("id", or_empty(id)), arg_str("dest", or_empty(destination)), arg_str("extend", extend))
JOB_CALL(pbs_msgjob, "message", (int c, const char *id, int files, const char *text, const char *extend),
	 arg_str("id", or_empty(id)), arg_int("file", files), arg_str("msg", or_empty(text)), arg_str("extend", extend))
JOB_CALL(pbs_orderjob, "order", (int c, const char *id, const char *other, const char *extend), arg_str("id", or_empty(id)),
	 arg_str("id2", or_empty(other)), arg_str("extend", extend))
JOB_CALL(pbs_relnodesjob, "release_nodes", (int c, const char *id, const char *vnodes, const char *extend),
	 arg_str("id", or_empty(id)), arg_str("vnodes", or_empty(vnodes)), arg_str("keep", kept(extend)))
JOB_CALL(pbs_rerunjob, "rerun", (int c, const char *id, const char *extend), arg_str("id", or_empty(id)),
	 arg_str("extend", extend))
JOB_CALL(pbs_runjob, "run", (int c, const char *id, const char *location, const char *extend), arg_str("id", or_empty(id)),
	 arg_str("location", or_empty(location)), arg_bool("async", false), arg_str("extend", extend))
JOB_CALL(pbs_asyrunjob_ack, "run", (int c, const char *id, const char *location, const char *extend),
	 arg_str("id", or_empty(id)), arg_str("location", or_empty(location)), arg_bool("async", true), arg_str("extend", extend))
JOB_CALL(pbs_sigjob, "signal", (int c, const char *id, const char *signal, const char *extend), arg_str("id", or_empty(id)),
	 arg_str("signal", or_empty(signal)), arg_str("extend", extend))

int pbs_asyrunjob(int c, const char *id, const char *location, const char *extend)
{
	const struct arg args[] = { arg_str("id", or_empty(id)),
				    arg_str("location", or_empty(location)),
				    arg_bool("async", true), arg_str("extend", extend) };

	return call_without_reply(c, "run", args, 4);
}

char *pbs_locjob(int c, const char *id, const char *extend)
{
	struct result_text server = { .key = "server" };
	struct listener l = { .reply = result_text_reply, .arg = &server };

	CALL(c, "locate", &l, arg_str("id", or_empty(id)), arg_str("extend", extend));
	return server.text;
}

struct ending {
	int status;
	char *text;
};

static int ending_reply(const struct pack_value *body, void *arg)
{
	struct ending *e = arg;

	e->status = (int)pack_int(body, "exit", 0);
	e->text = pack_strdup(pack_get(body, "text"));
	return 0;
}

int pbs_waitjob(int c, const char *id, int *ret_exit, char **ret_text)
{
	struct ending e = { 0 };
	struct listener l = { .reply = ending_reply, .arg = &e, .stop_at_signal = true,
			      .again = true };
	int ret;

	ret = CALL(c, "wait", &l, arg_str("id", or_empty(id)));
	if (ret != 0)
		return ret;
	if (ret_exit != NULL)
		*ret_exit = e.status;
	if (ret_text != NULL)
		*ret_text = e.text;
	else
		free(e.text);
	return 0;
}
