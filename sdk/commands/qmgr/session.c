/* SPDX-License-Identifier: Apache-2.0
 *
 * session.c - a run of qmgr: the servers it talks to, and what is active.
 */
#include "session.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cmd.h"
#include "pbs_error.h"
#include "reach.h"

#define UNREACHED 3

void session_init(struct session *s)
{
	*s = (struct session){ .in = stdin };
}

void session_fini(struct session *s)
{
	while (s->peers) {
		struct peer *next = s->peers->next;

		if (s->peers->c > 0)
			pbs_disconnect(s->peers->c);
		free(s->peers->name);
		free(s->peers);
		s->peers = next;
	}
	for (int i = 0; i < MGR_OBJ_LAST; i++) {
		object_names_free(s->active[i]);
		s->active[i] = NULL;
	}
}

static struct peer *peer_get(struct session *s, const char *server)
{
	struct peer *p;

	for (p = s->peers; p; p = p->next)
		if (strcmp(p->name, server) == 0)
			return p;
	p = calloc(1, sizeof(*p));
	if (!p)
		return NULL;
	p->name = strdup(server);
	if (!p->name) {
		free(p);
		return NULL;
	}
	p->next = s->peers;
	s->peers = p;
	return p;
}

int session_connect(struct session *s, const char *server)
{
	struct peer *p = peer_get(s, server);

	if (!p) {
		fprintf(stderr, "qmgr: out of memory\n");
		return -1;
	}
	if (p->c > 0)
		return p->c;
	p->c = reach_connect(server);
	if (p->c > 0)
		return p->c;
	p->c = 0;
	fprintf(stderr, "qmgr: cannot connect to server %s\n", server);
	return -1;
}

void session_forget(struct session *s, int c)
{
	struct peer *p;

	for (p = s->peers; p; p = p->next) {
		if (p->c == c) {
			pbs_disconnect(c);
			p->c = 0;
		}
	}
}

int session_add_server(struct session *s, const char *server)
{
	return object_name_add(&s->active[MGR_OBJ_SERVER], "", 0, server, strlen(server));
}

void session_activate(struct session *s, int object, struct object_name *names)
{
	object_names_free(s->active[object]);
	s->active[object] = names;
}

void session_print_active(const struct session *s, int object)
{
	static const char *const titles[MGR_OBJ_LAST] = {
		[MGR_OBJ_SERVER] = "servers",
		[MGR_OBJ_QUEUE] = "queues",
		[MGR_OBJ_NODE] = "nodes",
	};
	const struct object_name *name;

	if (!titles[object])
		return;
	printf("Active %s:\n", titles[object]);
	for (name = s->active[object]; name; name = name->next) {
		const char *server = name->server && *name->server ? name->server : "default";

		if (object == MGR_OBJ_SERVER)
			puts(server);
		else if (name->server)
			printf("%s@%s\n", name->text, server);
		else
			puts(name->text);
	}
	if (object == MGR_OBJ_SERVER && !s->active[object])
		printf("default\n");
}

void session_has_active(const struct session *s, bool ret[MGR_OBJ_LAST])
{
	for (int i = 0; i < MGR_OBJ_LAST; i++)
		ret[i] = s->active[i] != NULL;
	ret[MGR_OBJ_SERVER] = ret[MGR_OBJ_SCHED] = true;
}

static int one_target(struct session *s, const struct command *q, const char *name,
		      const char *server, bool default_name, target_fn *fn)
{
	struct target t = { .name = name, .server = server, .default_name = default_name };
	bool looks = q->verb == MGR_CMD_LIST || q->verb == MGR_CMD_PRINT;

	t.c = session_connect(s, server);
	if (t.c < 0)
		return looks ? 1 : UNREACHED;
	return fn(s, q, &t);
}

/* At the server named, or at each active one. */
static int each_server(struct session *s, const struct command *q, const struct object_name *name,
		       bool default_name, target_fn *fn)
{
	const struct object_name *server = s->active[MGR_OBJ_SERVER];
	int one, status = 0;

	if (name->server)
		return one_target(s, q, name->text, name->server, default_name, fn);
	if (!server)
		return one_target(s, q, name->text, "", default_name, fn);
	for (; server; server = server->next) {
		one = one_target(s, q, name->text, server->server, default_name, fn);
		if (one != 0)
			status = one;
	}
	return status;
}

static int unnamed(struct session *s, const struct command *q, target_fn *fn)
{
	static char standard[] = "default", all[] = "";
	struct object_name name = { .text = all };

	if (q->object == MGR_OBJ_QUEUE || q->object == MGR_OBJ_NODE) {
		fprintf(stderr, "No Active %s, nothing done.\n",
			q->object == MGR_OBJ_QUEUE ? "Queues" : "Nodes");
		return 0;
	}
	if (q->object == MGR_OBJ_SCHED)
		name.text = standard;
	return each_server(s, q, &name, q->object == MGR_OBJ_SCHED, fn);
}

int session_each_target(struct session *s, const struct command *q, target_fn *fn)
{
	const struct object_name *name = q->names;
	int one, status = 0;

	if (!name && q->object != MGR_OBJ_SERVER)
		name = s->active[q->object];
	if (!name)
		return unnamed(s, q, fn);
	for (; name; name = name->next) {
		one = each_server(s, q, name, false, fn);
		if (one != 0)
			status = one;
	}
	return status;
}

int target_failed_as(const struct target *t, int error, const char *text)
{
	const char *server = *t->server ? t->server : "default";

	if (text && *text)
		fprintf(stderr, "qmgr obj=%s svr=%s: %s\n", t->default_name ? "" : *t->name ? t->name : t->server, server,
			text);
	if (error == PBSE_HOOKERROR)
		fprintf(stderr, "qmgr: hook error returned from server\n");
	else
		fprintf(stderr, "qmgr: Error (%d) returned from server\n", error);
	return reach_exit_status(error);
}

int target_failed(struct session *s, const struct target *t)
{
	int error = pbs_errno;
	int status = target_failed_as(t, error, cmd_error_text(t->c));

	if (error == PBSE_PROTOCOL)
		session_forget(s, t->c);
	return status;
}
