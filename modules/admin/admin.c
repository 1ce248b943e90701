/* SPDX-License-Identifier: Apache-2.0
 *
 * admin.c - what administrators see of a daemon: its modules, points and taps, what they have cost, what waits.
 */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "keel/keel.h"
#include "keel/text.h"
#include "pbs_error.h"

KEEL_USE(inspect);

/* An answer that is being written: {lines: [...]}. */
struct report {
	struct keel_mod *mod;
	struct keel_out *out;
	const char *who; /* requests it */
	const char *arg; /* the first argument, or NULL */
	struct keel_text line;
};

/* Every tap, or those of a point: what they point to stays in this turn. */
struct taps {
	struct keel_about_tap *at;
	uint32_t n, point; /* 0: all points */
	bool failed;
};

static void line_end(struct report *r)
{
	keel_add_str(r->out, r->line.data);
	keel_text_fini(&r->line);
	keel_text_init(&r->line);
}

static void tap_take(void *arg, const struct keel_about_tap *tap)
{
	struct taps *taps = arg;
	struct keel_about_tap *more;

	if (taps->failed || (taps->point && tap->point != taps->point))
		return;
	more = reallocarray(taps->at, taps->n + 1, sizeof(*more));
	taps->failed = !more;
	if (!more)
		return;
	taps->at = more;
	taps->at[taps->n++] = *tap;
}

/* The point that is named, or all. The caller frees taps->at. */
static int32_t taps_read(struct report *r, struct taps *taps, struct keel_err *err)
{
	*taps = (struct taps){ .point = r->arg ? keel_point(r->mod, r->arg) : 0 };
	if (r->arg && !taps->point) {
		keel_error(err, 0, "there is no hook point '%s'; 'keelson hooks' lists them", r->arg);
		return PBSE_IVALREQ;
	}
	keel_inspect_taps(r->mod, tap_take, taps);
	if (!taps->failed)
		return 0;
	keel_error(err, 0, "no memory for the answer");
	return PBSE_INTERNAL;
}

/* ---- modules ------------------------------------------------------------------------------------------------ */

struct table {
	struct report *r;
	struct taps taps;
};

/* A module's own words, which may hold anything, in one cell. */
static void words(struct keel_text *line, const char *text)
{
	for (const char *at = text && *text ? text : "-"; *at; at++)
		keel_text_add(line, (unsigned char)*at < ' ' ? "?" : at, 1);
	keel_text_str(line, "\t");
}

/* Of bits of enum keel_daemon. */
static const char *const daemons[] = { "-",	"server",	"mom",	     "server,mom",
				       "login", "server,login", "mom,login", "server,mom,login" };

static void module_row(void *arg, const struct keel_about_module *m)
{
	const struct table *t = arg;
	struct keel_text *line = &t->r->line;
	uint32_t n = 0, benched = 0;
	uint64_t calls = 0, time_ns = 0;

	for (const struct keel_about_tap *tap = t->taps.at; tap < t->taps.at + t->taps.n; tap++) {
		if (strcmp(tap->module, m->name) != 0)
			continue;
		n++;
		benched += tap->benched;
		calls += tap->calls;
		time_ns += tap->time_ns;
	}
	words(line, m->name);
	words(line, m->version);
	words(line, m->vendor);
	keel_text_printf(line, "%u.%u\t%s\t%s\t%" PRId64 "\t%u\t%" PRIu64 "\t%" PRIu64 "\t%s\t", m->abi_major, m->abi_minor,
			 benched ? "benched" : m->since ? "running" : "ready", m->runs, m->since, n, calls, time_ns,
			 daemons[m->roles & KEEL_ANY]);
	keel_text_str(line, m->path);
	line_end(t->r);
}

static int32_t modules(struct report *r, struct keel_err *err)
{
	struct table t = { .r = r };
	int32_t code;

	r->arg = NULL;
	code = taps_read(r, &t.taps, err);
	if (code == 0) {
		keel_add_str(r->out, "name\tversion\tvendor\tabi\tstate\truns\tsince\ttaps\tcalls\ttime_ns\troles\tpath");
		keel_inspect_modules(r->mod, module_row, &t);
	}
	free(t.taps.at);
	return code;
}

/* ---- what does not run ---------------------------------------------------------------------------------------- */

/* Names that are said already, or run; and the folder that modules came from. */
struct known {
	struct report *r;
	char **names;
	uint32_t n;
	char *dir;
	bool failed;
};

static void known_add(struct known *k, const char *name)
{
	char **more = reallocarray(k->names, k->n + 1, sizeof(*more));

	if (more)
		k->names = more;
	if (more && (more[k->n] = strdup(name)))
		k->n++;
	else
		k->failed = true;
}

static bool is_known(const struct known *k, const char *name)
{
	for (uint32_t i = 0; i < k->n; i++)
		if (strcmp(k->names[i], name) == 0)
			return true;
	return false;
}

static void off_line(struct report *r, const char *state, const char *name, const char *why)
{
	words(&r->line, state);
	words(&r->line, name);
	keel_text_str(&r->line, why); /* the kernel's, or ours: a name of a file is the administrator's */
	line_end(r);
}

static void running_take(void *arg, const struct keel_about_module *m)
{
	struct known *k = arg;
	const char *slash = strrchr(m->path, '/');

	known_add(k, m->name);
	if (!k->dir && slash && strcmp(m->name, k->r->mod->name) == 0)
		k->dir = strndup(m->path, (size_t)(slash - m->path));
}

static void off_take(void *arg, const char *name, const char *why)
{
	struct known *k = arg;

	known_add(k, name);
	off_line(k->r, "off", name, why);
}

/* Installed, and no file of the configuration names it. */
static void files_look(struct known *k)
{
	DIR *dir = k->dir ? opendir(k->dir) : NULL;
	const struct dirent *e;

	while (dir && (e = readdir(dir))) {
		char name[256];
		size_t len = strlen(e->d_name);

		if (len <= 3 || strcmp(e->d_name + len - 3, ".so") != 0)
			continue;
		snprintf(name, sizeof(name), "%.*s", (int)len - 3, e->d_name);
		if (!is_known(k, name))
			off_line(k->r, "off", name, "installed, and no file in modules.d names it");
	}
	if (dir)
		closedir(dir);
}

/* What is off, and taps that are called no more. */
static int32_t modules_off(struct report *r, struct keel_err *err)
{
	struct known k = { .r = r };
	struct taps taps;
	int32_t code;

	r->arg = NULL;
	code = taps_read(r, &taps, err);
	keel_add_str(r->out, "state\tname\twhy");
	keel_inspect_modules(r->mod, running_take, &k);
	keel_inspect_off(r->mod, off_take, &k);
	if (!k.failed)
		files_look(&k);
	for (uint32_t i = 0; code == 0 && i < taps.n; i++)
		if (taps.at[i].benched)
			off_line(r, "benched", taps.at[i].name, "its tap is called no more: the log says why; keelson hooks --unbench NAME calls it again");
	for (uint32_t i = 0; i < k.n; i++)
		free(k.names[i]);
	free(k.names);
	free(k.dir);
	free(taps.at);
	return code;
}

/* ---- points and chains --------------------------------------------------------------------------------------- */

static void point_line(struct report *r, const struct keel_about_point *p, const struct taps *taps, uint32_t point)
{
	static const char *const kinds[] = { [KEEL_GATE] = "GATE", [KEEL_ASK] = "ASK", [KEEL_FOLD] = "FOLD", [KEEL_NOTE] = "NOTE" };
	uint32_t n = 0;

	for (uint32_t i = 0; i < taps->n; i++)
		n += taps->at[i].point == point;
	keel_text_printf(&r->line, "%s %s taps=%u %s", p->name, kinds[p->kind], n, p->doc);
	line_end(r);
}

static void tap_line(struct report *r, uint32_t place, const struct keel_about_tap *t)
{
	const double ns = (double)t->longest_ns;
	struct keel_text *line = &r->line;

	keel_text_printf(line, "%u %s order=%d on_fail=%s", place, t->name, t->order,
			 t->policy == KEEL_ON_FAIL_REJECT ? "reject" :
			 t->policy == KEEL_ON_FAIL_BENCH  ? "bench" :
							    "skip");
	if (t->before)
		keel_text_printf(line, " before=%s", t->before);
	if (t->after)
		keel_text_printf(line, " after=%s", t->after);
	keel_text_printf(line, " calls=%" PRIu64 " fails=%u", t->calls, t->fails);
	if (ns < 1e3)
		keel_text_printf(line, " longest=%.0fns", ns);
	else
		keel_text_printf(line, ns < 1e6 ? " longest=%.1fus" : " longest=%.1fms", ns / (ns < 1e6 ? 1e3 : 1e6));
	if (t->strikes)
		keel_text_printf(line, " strikes=%u", t->strikes);
	if (t->benched)
		keel_text_str(line, " BENCHED");
	line_end(r);
}

/* All points, or the chain of one. */
static int32_t hooks(struct report *r, struct keel_err *err)
{
	struct keel_about_point p = { .size = sizeof(p) };
	struct taps taps;
	int32_t code = taps_read(r, &taps, err);

	for (uint32_t i = 0; code == 0 && r->arg && i < taps.n; i++)
		tap_line(r, i + 1, &taps.at[i]);
	for (uint32_t id = 1; code == 0 && !r->arg && id < KEEL_POINT_MAX; id++)
		if (keel_point_about(r->mod, id, &p) == 0)
			point_line(r, &p, &taps, id);
	free(taps.at);
	return code;
}

/* Most time first. */
static int by_time(const void *left, const void *right)
{
	const struct keel_about_tap *a = left, *b = right;

	if (a->time_ns != b->time_ns)
		return a->time_ns > b->time_ns ? -1 : 1;
	return strcmp(a->name, b->name);
}

/* What the taps have cost: those of all points, or of one. */
static int32_t hook_times(struct report *r, struct keel_err *err)
{
	struct keel_about_point p = { .size = sizeof(p) };
	struct taps taps;
	int32_t code = taps_read(r, &taps, err);

	if (code == 0) /* `hook` names a row: the same tap may be at several points */
		keel_add_str(r->out, "hook\tpoint\ttap\tcalls\ttime_ns\tlongest_ns\tfails\tstrikes\tstate");
	if (taps.n)
		qsort(taps.at, taps.n, sizeof(*taps.at), by_time);
	for (uint32_t i = 0; code == 0 && i < taps.n; i++) {
		const struct keel_about_tap *t = &taps.at[i];

		keel_point_about(r->mod, t->point, &p);
		keel_text_printf(&r->line, "%s/%s\t%s\t%s\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%u\t%u\t%s", p.name, t->name,
				 p.name, t->name, t->calls, t->time_ns, t->longest_ns, t->fails, t->strikes,
				 t->benched ? "benched" : t->quiet ? "quiet" : "on");
		line_end(r);
	}
	free(taps.at);
	return code;
}

static int32_t hook_reset(struct report *r, struct keel_err *err)
{
	(void)err;
	keel_reset_times(r->mod);
	return 0;
}

static int32_t hook_unbench(struct report *r, struct keel_err *err)
{
	if (!r->arg || keel_unbench(r->mod, r->arg, r->who) < 0) {
		keel_error(err, 0, "there is no tap '%s'; 'keelson hooks --time' lists them", r->arg ? r->arg : "");
		return PBSE_IVALREQ;
	}
	keel_text_printf(&r->line, "%s is called", r->arg);
	line_end(r);
	return 0;
}

/* ---- holds --------------------------------------------------------------------------------------------------- */

static void hold_line(void *arg, const struct keel_about_hold *h)
{
	struct report *r = arg;
	struct keel_about_point p = { .size = sizeof(p) };

	keel_point_about(r->mod, h->point, &p);
	keel_text_printf(&r->line, "%s %s %s: %s (%" PRId64 "s of %" PRId64 "s)", h->object, p.name, h->module, h->why,
			 h->passed_ms / 1000, h->timeout_ms / 1000);
	line_end(r);
}

static int32_t holds(struct report *r, struct keel_err *err)
{
	(void)err;
	keel_inspect_holds(r->mod, hold_line, r);
	return 0;
}

/* ---- requests ------------------------------------------------------------------------------------------------ */

static void answer(struct keel_mod *mod, struct keel_req *req, int32_t (*verb)(struct report *, struct keel_err *))
{
	uint32_t n = 0;
	const char *const *args = keel_msg_strings(keel_req_body(req), "args", &n);
	struct report r = { .mod = mod, .who = keel_req_session(req)->who, .out = keel_out(mod),
			    .arg = args && n && args[0][0] ? args[0] : NULL };
	struct keel_err err = { 0 };
	int32_t code;

	if (!r.out) {
		keel_reply(req, PBSE_INTERNAL, "no memory for the answer");
		return;
	}
	keel_text_init(&r.line);
	keel_open_array(r.out, "lines");
	code = verb(&r, &err);
	keel_close(r.out);
	keel_text_fini(&r.line);
	if (code == 0) {
		keel_reply_out(req, r.out);
	} else {
		keel_out_drop(r.out);
		keel_reply(req, code, "%s", err.text);
	}
}

#define VERBS(VERB)                                                                                         \
	VERB(modules, KEEL_OPERATORS, "loaded modules, a table: what they are, how they fare")               \
	VERB(modules_off, KEEL_OPERATORS, "modules that do not run, and why; taps that are benched: a table") \
	VERB(hooks, KEEL_OPERATORS, "hook points, or the compiled chain of one")                            \
	VERB(hook_times, KEEL_OPERATORS, "what taps have cost, a table: those of all points, or of one")    \
	VERB(hook_reset, KEEL_MANAGERS, "counts and times of taps begin again")                             \
	VERB(hook_unbench, KEEL_MANAGERS, "call a benched tap again")                                       \
	VERB(holds, KEEL_OPERATORS, "operations that wait, and what for")

#define AS_REQUEST(verb, who, text)                                                                         \
	static void on_##verb(struct keel_mod *mod, struct keel_req *req)                                   \
	{                                                                                                   \
		answer(mod, req, verb);                                                                     \
	}                                                                                                   \
	static const struct keel_request_def def_##verb = { .size = sizeof(def_##verb), .roles = (who),     \
							    .name = "keelson." #verb, .doc = (text),        \
							    .flags = KEEL_REQUEST_READ, .handler = on_##verb };
VERBS(AS_REQUEST)
#define AS_ROW(verb, who, text) KEEL_ROW(REQUEST, def_##verb),
static const struct keel_contrib contribs[] = { VERBS(AS_ROW) };

KEEL_MODULE(.name = "admin", .version = "1.0", .vendor = "Keelson",
	    .summary = "shows modules, taps, what they cost, what waits", .roles = KEEL_SERVER,
	    KEEL_CONTRIBS(contribs));
