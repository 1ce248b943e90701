/* SPDX-License-Identifier: Apache-2.0
 *
 * described.c - what the process says its module is, made into a descriptor of this daemon.
 *
 * The process may say anything: counts are bounded, and the descriptor goes through the same lint as one
 * that was mapped (kernel/module/lint.c). What cannot work from another process is refused here, by name.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "isolate/inside.h"
#include "modfile/process.h"
#include "util/err.h"
#include "util/version.h"

#define ROWS_MAX 1024u

void open_put(const struct isolate *iso, struct buf *m)
{
	const struct parts *p = iso->parts;

	talk_put_int(m, TALK_OPEN);
	talk_put_int(m, TALK_VERSION);
	talk_put_str(m, KEELSON_VERSION_TEXT);
	talk_put_str(m, iso->path);
	talk_put_int(m, p->daemon);
	talk_put_str(m, p->home);
	talk_put_str(m, p->exec_dir);
	talk_put_str(m, p->server_name);
	talk_put_str(m, p->host_name);
}

static int refuse(const struct isolate *iso, struct keel_err *err, const char *why)
{
	return err_set(err, -ENOTSUP, "module %s cannot run in a process of its own: %s; take isolation = \"process\" "
		       "out of its configuration, or leave it out", iso->name, why);
}

/* ---- reading, with a bound on every table ---------------------------------------------------------- */
static uint32_t count(struct talk_in *in)
{
	int64_t n = talk_int(in);

	if (n < 0 || n > ROWS_MAX)
		in->r.bad = true;
	return talk_bad(in) ? 0 : (uint32_t)n;
}

static void *table(struct talk_in *in, uint32_t n, size_t size)
{
	void *rows = calloc(n + 1, size);

	if (rows == NULL)
		in->r.bad = true;
	return rows;
}

static void head_take(struct isolate *iso, struct talk_in *in)
{
	struct keel_module *d = &iso->desc;

	*d = (struct keel_module){ .magic = KEEL_MAGIC, .abi_major = KEEL_ABI_MAJOR,
				   .abi_minor = KEEL_ABI_MINOR, .size = sizeof(*d) };
	d->name = talk_str(in);
	d->version = talk_str(in);
	d->vendor = talk_str(in);
	d->summary = talk_str(in);
	d->roles = (uint32_t)talk_int(in);
	d->flags = (uint32_t)talk_int(in);
	d->conf_size = (uint32_t)talk_int(in);
	if (talk_int(in) != 0)
		d->busy = life_busy;
	d->init = life_init;
	d->start = life_start;
	d->reconf = life_reconf;
	d->stop = life_stop;
	d->fini = life_fini;
}

static void rules_take(struct isolate *iso, struct talk_in *in)
{
	uint32_t n = count(in);

	iso->rules = table(in, n, sizeof(*iso->rules));
	for (uint32_t i = 0; i < n && !talk_bad(in); i++) {
		struct keel_conf_rule *r = &iso->rules[i];

		r->size = sizeof(*r);
		r->type = (uint32_t)talk_int(in);
		r->offset = (uint32_t)talk_int(in);
		r->flags = (uint32_t)talk_int(in);
		r->key = talk_str(in);
		r->fallback = talk_str(in);
		r->min = talk_int(in);
		r->max = talk_int(in);
		r->choices = talk_str(in);
		r->doc = talk_str(in);
	}
	iso->desc.n_conf = n;
	iso->desc.conf = iso->desc.n_conf > 0 ? iso->rules : NULL;
}

static int needs_take(const struct isolate *iso, struct talk_in *in, struct keel_err *err)
{
	uint32_t n = count(in);

	for (uint32_t i = 0; i < n; i++) {
		const char *group = talk_text(in);
		bool optional = talk_int(in) != 0;
		char why[PROCESS_WHY_MAX];

		if (!talk_bad(in) && process_bars_need(group, optional, why))
			return refuse(iso, err, why);
	}
	return 0;
}

/* ---- contributions: attributes without functions, requests ------------------------------------ */
union def {
	struct keel_attr_def attr;
	struct keel_request_def request;
};

/* Has it functions? */
static bool attr_take(struct talk_in *in, struct keel_attr_def *a)
{
	a->size = sizeof(*a);
	a->flags = (uint32_t)talk_int(in);
	a->klass = talk_text(in);
	a->name = talk_text(in);
	a->type = talk_text(in);
	a->doc = talk_str(in);
	a->read_roles = (uint32_t)talk_int(in);
	a->write_roles = (uint32_t)talk_int(in);
	a->order = (int32_t)talk_int(in);
	a->fallback = talk_str(in);
	return talk_int(in) != 0;
}

static void request_take(struct talk_in *in, struct keel_request_def *r)
{
	r->size = sizeof(*r);
	r->roles = (uint32_t)talk_int(in);
	r->name = talk_text(in);
	r->doc = talk_str(in);
	r->number = (uint32_t)talk_int(in);
	r->flags = (uint32_t)talk_int(in);
	r->handler = request_asked;
}

static int contrib_take(struct isolate *iso, struct talk_in *in, uint32_t i, struct keel_err *err)
{
	union def *def = (union def *)iso->defs + i;
	const char *kind = talk_text(in);
	bool has_functions = false;
	char why[PROCESS_WHY_MAX];

	iso->contribs[i] = (struct keel_contrib){ kind, def };
	if (strcmp(kind, "ATTR") == 0)
		has_functions = attr_take(in, &def->attr);
	else if (strcmp(kind, "REQUEST") == 0)
		request_take(in, &def->request);
	if (!talk_bad(in) && process_bars_row(kind, def->attr.name, has_functions, why))
		return refuse(iso, err, why);
	return 0;
}

static int contribs_take(struct isolate *iso, struct talk_in *in, struct keel_err *err)
{
	uint32_t n = count(in);
	int ret = 0;

	iso->contribs = table(in, n, sizeof(*iso->contribs));
	iso->defs = table(in, n, sizeof(union def));
	for (uint32_t i = 0; i < n && ret == 0 && !talk_bad(in); i++)
		ret = contrib_take(iso, in, i, err);
	iso->desc.n_contribs = n;
	iso->desc.contribs = n > 0 ? iso->contribs : NULL;
	return ret;
}

/* ---- taps -------------------------------------------------------------------------------------------- */
static void never_called(void)
{
}

static int tap_refuse(const struct isolate *iso, const struct keel_tap *t, struct keel_err *err)
{
	struct hooks_point p;
	char why[PROCESS_WHY_MAX];

	if (!hooks_point(t->point, &p))
		return 0; /* the lint says it */
	return process_bars_tap(p.name, p.kind, p.daemon, why) ? refuse(iso, err, why) : 0;
}

static int taps_take(struct isolate *iso, struct talk_in *in, struct keel_err *err)
{
	uint32_t n = count(in);
	int ret = 0;

	iso->taps = table(in, n, sizeof(*iso->taps));
	iso->iso_taps = table(in, n, sizeof(*iso->iso_taps));
	for (uint32_t i = 0; i < n && ret == 0 && !talk_bad(in); i++) {
		struct keel_tap *t = &iso->taps[i];
		struct hooks_point p = { .kind = 0 };

		t->size = sizeof(*t);
		t->point = (uint32_t)talk_int(in);
		t->name = talk_text(in);
		t->order = (int32_t)talk_int(in);
		t->flags = (uint32_t)talk_int(in);
		t->before = talk_str(in);
		t->after = talk_str(in);
		t->fn.any = never_called;
		hooks_point(t->point, &p);
		iso->iso_taps[i] = (struct iso_tap){ iso, t->name, i, t->point, p.kind };
		ret = tap_refuse(iso, t, err);
	}
	iso->desc.n_taps = n;
	iso->desc.taps = iso->desc.n_taps > 0 ? iso->taps : NULL;
	return ret;
}

/* Two lists of module names, NULL-terminated, in one table. */
static void words_take(struct isolate *iso, struct talk_in *in)
{
	uint32_t n = count(in), at;

	iso->words = table(in, 2 * ROWS_MAX + 2, sizeof(*iso->words));
	if (talk_bad(in))
		return;
	for (at = 0; at < n; at++)
		iso->words[at] = talk_text(in);
	iso->desc.requires_modules = iso->words;
	iso->desc.conflicts = iso->words + ++at;
	n = count(in);
	while (n-- > 0)
		iso->words[at++] = talk_text(in);
}

static int tables_take(struct isolate *iso, struct talk_in *in, struct keel_err *err)
{
	char why[PROCESS_WHY_MAX];
	int ret;

	head_take(iso, in);
	if (process_bars_flags(iso->desc.flags, why))
		return refuse(iso, err, why);
	iso->desc.flags = 0; /* what may not be unloaded is only so inside a process */
	rules_take(iso, in);
	ret = needs_take(iso, in, err);
	if (ret == 0)
		ret = contribs_take(iso, in, err);
	if (ret == 0)
		ret = taps_take(iso, in, err);
	if (ret == 0)
		words_take(iso, in);
	if (ret == 0 && !talk_done(in))
		return err_set(err, -EPROTO, "module %s: its process describes it wrongly", iso->name);
	return ret;
}

static uint64_t digest_of(const char *body, uint32_t len)
{
	uint64_t hash = UINT64_C(14695981039346656037);

	for (uint32_t i = 0; i < len; i++)
		hash = (hash ^ (unsigned char)body[i]) * UINT64_C(1099511628211);
	return hash;
}

/* Again, after a restart: it must be what it was. */
static int same_again(const struct isolate *iso, const char *body, uint32_t len, struct keel_err *err)
{
	if (digest_of(body, len) == iso->digest)
		return 0;
	return err_set(err, -ESTALE, "%s is another module now; reload to use it", iso->path);
}

int described_take(struct isolate *iso, struct talk_in *in, const char *body, uint32_t len,
		   struct keel_err *err)
{
	int64_t code = talk_int(in);
	struct talk_in own;

	if (code != 0) {
		const char *text = talk_text(in);

		return err_set(err, code < 0 && code > -4096 ? (int)code : -EPROTO, "%s",
			       text[0] != '\0' ? text : "its process cannot open it");
	}
	if (iso->body != NULL)
		return same_again(iso, body, len, err);
	iso->body = malloc(len + 1u);
	if (iso->body == NULL)
		return err_set(err, -ENOMEM, "no memory to load module %s", iso->name);
	memcpy(iso->body, body, len);
	iso->digest = digest_of(body, len);
	talk_open(&own, iso->body, len);
	talk_int(&own); /* the code */
	return tables_take(iso, &own, err);
}

void described_fini(struct isolate *iso)
{
	free(iso->body);
	free(iso->rules);
	free(iso->contribs);
	free(iso->defs);
	free(iso->taps);
	free(iso->iso_taps);
	free(iso->words);
}
