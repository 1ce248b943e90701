/* SPDX-License-Identifier: Apache-2.0
 *
 * check_ask.c - what users do with a module: requests, verbs, attributes, and its rows for
 * base modules.
 */
#include <stdio.h>
#include <string.h>

#include "check_calls.h"
#include "check_child.h"
#include "modfile/descriptor.h"

enum { PATIENCE_MS = 7200000 };

static const struct keel_contrib *contrib_at(const struct keel_module *m, const char *kind, unsigned i)
{
	for (uint32_t c = 0; c < m->n_contribs; c++)
		if (strcmp(m->contribs[c].kind, kind) == 0 && i-- == 0)
			return &m->contribs[c];
	return NULL;
}

/* ---- requests -------------------------------------------------------------------------------------- */
static const char *const bodies[] = {
	NULL,
	"id = \"1002.svr\"; ids = [ \"1002.svr\" ]; name = \"workq\"; kind = \"queue\"; klass = \"job\"; cmd = 1;"
	"user = \"user\"; text = \"some text\"; signal = \"suspend\"; attrs = ( (\"Priority\", \"\", \"5\", 0) );",
	"id = \"\"; ids = [ ]; name = \"\"; kind = \"\"; klass = \"\"; cmd = -1; user = \"\"; text = \"\";"
	"attrs = ( );",
	"id = 5; ids = 5; name = 5; kind = 5; klass = [ \"x\" ]; cmd = \"one\"; user = 5; text = [ \"x\" ]; attrs = 5;",
	"id = \"no such thing\"; ids = [ \"%n%s\", \"\", \"[\", \"7[]\" ]; name = \"no such thing\"; kind = \"no such thing\";"
	"klass = \"no such thing\"; cmd = 4711; attrs = ( (\"no such thing\", \"key\", \"%n%s\", 9) );",
};

bool request_case(void *arg, unsigned i)
{
	const struct subject *of = arg;
	const struct keel_contrib *c = contrib_at(of->m, "REQUEST", i / (2 * KEEL_COUNT(bodies)));
	const unsigned body = i / 2 % KEEL_COUNT(bodies);
	struct keel_mock_reply reply = { 0 }; /* may be filled as late as in stage_close() */
	struct keel_req *req = NULL;
	struct stage s;

	if (c == NULL)
		return false;
	calls_begin(&s, of);
	if (s.mod != NULL) {
		const char *name = ((const struct keel_request_def *)c->def)->name;

		child_step("request %s with body %u%s", name, body, i % 2 == 1 ? ", and the client goes" : "");
		req = keel_mock_request(s.mock, keel_mock_session(s.mock, "root", KEEL_EVERYBODY), name, bodies[body], &reply);
		if (i % 2 == 1 && req != NULL && !reply.told)
			keel_mock_client_gone(req);
		calls_go_on(&s, PATIENCE_MS);
	}
	stage_close(&s, child_last_step());
	return true;
}

/* ---- verbs ------------------------------------------------------------------------------------------ */
enum { WORDS_MOST = 64, WORD_MAX = 24 };

/* What people type behind a verb. The words that it understands are in its file: they are tried, too. */
static struct {
	char word[WORDS_MOST][WORD_MAX + 1];
	unsigned n;
	bool read;
} words;

static void word_add(const char *at, size_t len)
{
	if (words.n == WORDS_MOST || len < 2 || len > WORD_MAX)
		return;
	for (unsigned i = 0; i < words.n; i++)
		if (strlen(words.word[i]) == len && memcmp(words.word[i], at, len) == 0)
			return;
	memcpy(words.word[words.n++], at, len);
}

/* Strings of the file that are one word of small letters. */
static void words_read(const char *path)
{
	static const char *const any[] = { "1002.svr", "workq", "mockhost", "user", "-1", "9223372036854775808", "name=5", "%n%s" };
	char why[MODFILE_WHY_MAX];
	struct modfile_module *m = words.read ? NULL : modfile_read(path, why);

	for (size_t i = 0; m != NULL && i < KEEL_COUNT(any); i++)
		word_add(any[i], strlen(any[i]));
	for (uint64_t i = 1; m != NULL && i < m->image.len; i++) {
		const char *at = (const char *)m->image.base + i;
		size_t len = strspn(at, "abcdefghijklmnopqrstuvwxyz-_");

		if (at[-1] == '\0' && at[len] == '\0')
			word_add(at, len);
		i += len;
	}
	words.read = true;
	modfile_module_free(m);
}

/* Verb by verb, word by word. */
bool verb_case(void *arg, unsigned i)
{
	static const char *const shapes[] = { "\"%s\"", "\"%s\", \"\"", "\"%s\", \"workq\", \"5\"" };
	static struct keel_mock_reply replies[KEEL_COUNT(shapes)]; /* may come as late as in stage_close() */
	const struct subject *of = arg;
	const struct keel_contrib *c;
	struct stage s;

	words_read(of->path);
	c = contrib_at(of->m, "REQUEST", words.n == 0 ? 0 : i / words.n);
	if (c == NULL || words.n == 0 || strncmp(((const struct keel_request_def *)c->def)->name, "keelson.", 8) != 0)
		return c != NULL && words.n > 0;
	calls_begin(&s, of);
	for (size_t n = 0; s.mod != NULL && n < KEEL_COUNT(shapes); n++) {
		const char *name = ((const struct keel_request_def *)c->def)->name;
		char args[128], body[160];

		snprintf(args, sizeof(args), shapes[n], words.word[i % words.n]);
		snprintf(body, sizeof(body), "args = [ %s ];", args);
		child_step("verb %s with the words %s", name, args);
		(void)keel_mock_request(s.mock, keel_mock_session(s.mock, "root", KEEL_EVERYBODY), name, body, &replies[n]);
		calls_go_on(&s, PATIENCE_MS);
	}
	stage_close(&s, child_last_step());
	return true;
}

/* ---- attributes ------------------------------------------------------------------------------------ */
static const char *const values[] = { "", "1", "-1", "text", "a,b,,c", "9223372036854775808", "%n%s",
				      "a-very-long-word-a-very-long-word-a-very-long-word-a-very-long-word" };

static void value_try(struct stage *s, const struct keel_attr_def *a, unsigned v, struct keel_obj *o)
{
	static const int32_t ops[] = { KEEL_SET, KEEL_INCR, KEEL_DECR, KEEL_UNSET };
	const struct keel_session *who = keel_mock_session(s->mock, "root", KEEL_EVERYBODY);
	struct keel_err err;

	for (size_t op = 0; op < KEEL_COUNT(ops); op++) {
		child_step("attribute %s %s '%s'", a->name, op == 1 ? "+=" : op == 2 ? "-=" : "=", values[v]);
		(void)keel_mock_change(o, who, a->name, NULL, ops[op] == KEEL_UNSET ? NULL : values[v], ops[op], &err);
		(void)keel_mock_change(o, who, a->name, "ncpus", ops[op] == KEEL_UNSET ? NULL : values[v], ops[op],
				       &err);
		(void)keel_mock_text(o, a->name, NULL);
	}
}

bool value_case(void *arg, unsigned i)
{
	const struct subject *of = arg;
	const struct keel_contrib *c = contrib_at(of->m, "ATTR", i);
	const struct keel_attr_def *a;
	struct stage s;

	if (c == NULL)
		return false;
	a = c->def;
	calls_begin(&s, of);
	for (int cast = 0; s.mod != NULL && cast < N_CASTS; cast++)
		for (unsigned v = 0; v < KEEL_COUNT(values); v++) {
			struct keel_obj *o = stage_object(&s, a->klass, (enum cast)cast);

			if (o != NULL)
				value_try(&s, a, v, o);
		}
	calls_go_on(&s, PATIENCE_MS);
	stage_close(&s, child_last_step());
	return true;
}

/* ---- rows for base modules ------------------------------------------------------------------------- */
static void row_use(struct stage *s, const struct keel_contrib *c, enum cast cast)
{
	static struct keel_mock_reply reply; /* may come as late as in stage_close() */
	struct keel_obj *job = stage_object(s, "job", cast);

	if (strcmp(c->kind, "SIGNAL") == 0) { /* the module that has the signals sends this one */
		const struct keel_signal_def *d = c->def;
		char body[512];

		snprintf(body, sizeof(body), "id = \"%s\"; signal = \"%s\";", stage_id("job", cast), d->name);
		(void)keel_mock_request(s->mock, keel_mock_session(s->mock, "root", KEEL_EVERYBODY), "signal", body, &reply);
	} else if (strcmp(c->kind, "JOB_KEY") == 0) {
		const struct keel_job_key_def *d = c->def;

		(void)d->value(s->mod, job);
	} else if (strcmp(c->kind, "PREEMPT") == 0) {
		const struct keel_preempt_def *d = c->def;

		(void)(d->applies != NULL && d->applies(s->mod, job));
	}
}

bool row_case(void *arg, unsigned i)
{
	static const char *const kinds[] = { "SIGNAL", "JOB_KEY", "PREEMPT" };
	const struct subject *of = arg;
	const struct keel_contrib *c = NULL, *declared;
	size_t k = 0;
	struct stage s;

	for (; k < KEEL_COUNT(kinds); k++) {
		unsigned n = 0;

		while (contrib_at(of->m, kinds[k], n) != NULL)
			n++;
		if (i < n)
			break;
		i -= n;
	}
	if (k < KEEL_COUNT(kinds))
		c = contrib_at(of->m, kinds[k], i);
	for (unsigned n = 0; c != NULL && (declared = contrib_at(of->m, "KIND", n)) != NULL; n++)
		if (strcmp(((const struct keel_kind_def *)declared->def)->name, kinds[k]) == 0)
			return true; /* its own business */
	if (c == NULL)
		return false;
	calls_begin(&s, of);
	for (int cast = 0; s.mod != NULL && cast < N_CASTS; cast++) {
		child_step("%s row with a job that is %s", kinds[k], stage_id("job", (enum cast)cast));
		row_use(&s, c, (enum cast)cast);
		calls_go_on(&s, PATIENCE_MS);
	}
	stage_close(&s, child_last_step());
	return true;
}
