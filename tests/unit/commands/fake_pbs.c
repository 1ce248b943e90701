/* SPDX-License-Identifier: Apache-2.0
 *
 * fake_pbs.c - a client library without a server, to run the listing commands in tests.
 *
 * Objects come from the file FAKE_PBS_OBJECTS: a line "CLASS NAME", then lines
 * "attr[.res] = value", then an empty line. Nothing is selected: every object of the class whose name was asked for
 * comes (a queue name brings its jobs). What would change a server is written to FAKE_PBS_LOG.
 * FAKE_PBS_REPEAT=N sends the jobs N times under new ids. FAKE_PBS_DOWN=ERROR refuses connections.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pbs_error.h"
#include "pbs_ifl.h"

struct object {
	struct object *next;
	char klass[16];
	struct batch_status status;
};

static int error;
static const char *error_text;
static char server_name[PBS_MAXSERVERNAME + 1];
static struct object *objects;

int *__pbs_errno_location(void)
{
	return &error;
}

char *__pbs_server_location(void)
{
	return server_name;
}

static int fail(int code, const char *text)
{
	error = code;
	error_text = text;
	return code;
}

static const char *setting(const char *name, const char *otherwise)
{
	const char *value = getenv(name);

	return value ? value : otherwise;
}

static void unescape(char *text)
{
	char *to = text;

	for (; *text; text++)
		if (text[0] == '\\' && text[1] == 'n') {
			*to++ = '\n';
			text++;
		} else {
			*to++ = *text;
		}
	*to = '\0';
}

static struct attrl *read_attribute(char *line)
{
	struct attrl *a = calloc(1, sizeof(*a));
	char *equals = strstr(line, " = "), *dot;

	if (!a || !equals)
		abort();
	*equals = '\0';
	dot = strchr(line, '.');
	if (dot)
		*dot = '\0';
	a->name = strdup(line);
	a->resource = dot ? strdup(dot + 1) : NULL;
	a->value = strdup(equals + 3);
	unescape(a->value);
	return a;
}

static void load(void)
{
	const char *path = setting("FAKE_PBS_OBJECTS", "/dev/null");
	struct object **end = &objects, *o = NULL;
	struct attrl **tail = NULL;
	FILE *f = objects ? NULL : fopen(path, "r");
	char *line = NULL;
	size_t size = 0;

	while (f && getline(&line, &size, f) > 0) {
		line[strcspn(line, "\n")] = '\0';
		if (!*line) {
			o = NULL;
		} else if (!o) {
			o = *end = calloc(1, sizeof(*o));
			end = &o->next;
			snprintf(o->klass, sizeof(o->klass), "%.*s", (int)strcspn(line, " "), line);
			o->status.name = strdup(line + strcspn(line, " ") + 1);
			tail = &o->status.attribs;
		} else {
			*tail = read_attribute(line);
			tail = &(*tail)->next;
		}
	}
	free(line);
	if (f)
		fclose(f);
}

int pbs_connect(const char *server)
{
	const char *down = getenv("FAKE_PBS_DOWN");

	load();
	if (server && strncmp(server, "nosuch", 6) == 0)
		return fail(PBSE_BADHOST, NULL), -1;
	if (down) {
		errno = ECONNREFUSED;
		return fail(atoi(down), NULL), -1;
	}
	fail(0, NULL);
	return 7;
}

int pbs_disconnect(int c)
{
	return c == 7 ? 0 : -1;
}

char *pbs_default(void)
{
	return pbs_server[0] ? pbs_server : strcpy(pbs_server, setting("PBS_SERVER", "HOST"));
}

char *pbs_conf_value(const char *key)
{
	const char *value = getenv(key);

	if (!value && strcmp(key, "PBS_SERVER") == 0)
		value = "HOST";
	return value ? strdup(value) : NULL;
}

char *pbs_geterrmsg(int c)
{
	return c < 0 ? NULL : (char *)error_text;
}

char *pbs_locjob(int c, const char *id, const char *extend)
{
	(void)c, (void)id, (void)extend;
	fail(PBSE_UNKJOBID, "Unknown Job Id");
	return NULL;
}

static const char *attribute(const struct batch_status *s, const char *name)
{
	const struct attrl *a;

	for (a = s->attribs; a; a = a->next)
		if (strcmp(a->name, name) == 0)
			return a->value;
	return "";
}

static bool listed(const char *ids, const char *name)
{
	size_t n = strlen(name);
	const char *at;

	for (at = ids; (at = strstr(at, name)) != NULL; at += n)
		if ((at == ids || at[-1] == ',') && (at[n] == ',' || at[n] == '\0'))
			return true;
	return false;
}

static bool asked_for(const struct object *o, const char *klass, const char *id)
{
	if (strcmp(o->klass, klass) != 0)
		return false;
	if (!id || !*id || *id == '@' || listed(id, o->status.name))
		return true;
	return strcmp(klass, "job") == 0 && strcmp(attribute(&o->status, "queue"), id) == 0;
}

static int not_found(const char *klass, const char *id)
{
	if (strcmp(klass, "node") == 0)
		return fail(PBSE_UNKNODE, "Unknown node ");
	if (strcmp(klass, "queue") == 0)
		return fail(PBSE_UNKQUE, "Unknown queue");
	if (*id < '0' || *id > '9')
		return fail(PBSE_UNKQUE, "Unknown queue destination");
	return fail(PBSE_UNKJOBID, "Unknown Job Id");
}

static int send_many(const struct object *o, long times,
		     int (*each)(struct batch_status *, void *), void *arg)
{
	static long sequence = 1000000;
	struct batch_status one = o->status;
	char name[64];
	int rc = 0;

	for (; times > 0 && rc == 0; times--) {
		snprintf(name, sizeof(name), "%ld.HOST", sequence++);
		one.name = name;
		rc = each(&one, arg);
	}
	return rc;
}

int pbs_stat_each(int c, const char *klass, const char *id, struct attropl *select,
		  struct attrl *want, const char *extend,
		  int (*each)(struct batch_status *one, void *arg), void *arg)
{
	long times = strtol(setting("FAKE_PBS_REPEAT", "0"), NULL, 10), found = 0;
	struct object *o;
	int rc = 0;

	(void)c, (void)select, (void)want;
	fail(0, NULL);
	for (o = objects; o && rc == 0; o = o->next) {
		if (!asked_for(o, klass, id))
			continue;
		found++;
		if (strcmp(klass, "job") == 0 && id && *id >= '0' && *id <= '9' &&
		    strcmp(attribute(&o->status, "job_state"), "F") == 0 &&
		    (!extend || !strchr(extend, 'x')))
			return fail(PBSE_HISTJOBID, "Job has finished");
		if (times > 0 && strcmp(klass, "job") == 0)
			rc = send_many(o, times, each, arg);
		else
			rc = each(&o->status, arg);
	}
	if (rc == 0 && found == 0 && id && *id && *id != '@')
		return not_found(klass, id);
	return rc;
}

static int collect(struct batch_status *one, void *arg)
{
	struct batch_status ***tail = arg, *copy = malloc(sizeof(*copy));

	*copy = *one;
	copy->next = NULL;
	**tail = copy;
	*tail = &copy->next;
	return 0;
}

static struct batch_status *list(int c, const char *klass, const char *id)
{
	struct batch_status *first = NULL, **tail = &first;

	pbs_stat_each(c, klass, id, NULL, NULL, NULL, collect, &tail);
	return first;
}

void pbs_statfree(struct batch_status *l)
{
	struct batch_status *next;

	for (; l; l = next) {
		next = l->next;
		free(l);
	}
}

struct batch_status *pbs_statserver(int c, struct attrl *want, const char *extend)
{
	(void)want, (void)extend;
	return list(c, "server", NULL);
}

struct batch_status *pbs_statrsc(int c, const char *id, struct attrl *want, const char *extend)
{
	(void)want, (void)extend;
	return list(c, "resource", id);
}

struct batch_status *pbs_statvnode(int c, const char *id, struct attrl *want, const char *extend)
{
	(void)want, (void)extend;
	return list(c, "node", id);
}

struct batch_status *pbs_stathost(int c, const char *id, struct attrl *want, const char *extend)
{
	(void)want, (void)extend;
	return list(c, "node", id);
}

static FILE *open_log(void)
{
	return fopen(setting("FAKE_PBS_LOG", "/dev/null"), "a");
}

static void log_list(FILE *f, const struct attropl *a)
{
	for (; a; a = a->next)
		fprintf(f, " %s%s%s(%d)\"%s\"", a->name, a->resource ? "." : "",
			a->resource ? a->resource : "", (int)a->op, a->value ? a->value : "");
	fputc('\n', f);
}

char **pbs_selectjob(int c, struct attropl *select, const char *extend)
{
	struct batch_status *jobs = list(c, "job", NULL), *one;
	char **ids = calloc(1024, sizeof(*ids));
	FILE *f = open_log();
	size_t n = 0;

	fprintf(f, "select [%s]", extend ? extend : "");
	log_list(f, select);
	fclose(f);
	for (one = jobs; one && n < 1023; one = one->next)
		ids[n++] = strdup(one->name);
	pbs_statfree(jobs);
	fail(0, NULL);
	return ids;
}

int pbs_manager(int c, int cmd, int obj, const char *name, struct attropl *attrib,
		const char *extend)
{
	FILE *f = open_log();

	(void)c, (void)extend;
	fprintf(f, "manager %d %d %s", cmd, obj, name);
	log_list(f, attrib);
	fclose(f);
	if (strncmp(name, "nosuch", 6) == 0)
		return fail(PBSE_UNKNODE, "Unknown node ");
	return fail(0, NULL);
}

char **pbs_admin(int c, const char *verb, char **args, const char *extend)
{
	char **lines = calloc(2, sizeof(*lines));
	FILE *f = open_log();

	(void)c, (void)extend;
	fail(0, NULL);
	fprintf(f, "admin %s", verb);
	for (; args && *args; args++) {
		fprintf(f, " \"%s\"", *args);
		if (strncmp(*args, "nosuch", 6) == 0)
			fail(PBSE_UNKNODE, "Unknown node ");
	}
	fputc('\n', f);
	fclose(f);
	if (error != 0)
		return free(lines), NULL;
	lines[0] = strdup("done");
	return lines;
}
