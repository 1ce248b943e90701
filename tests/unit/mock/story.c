/* SPDX-License-Identifier: Apache-2.0
 *
 * story.c - see story.h.
 */
#include "mock/story.h"

#include <stdlib.h>
#include <string.h>

#include "harness.h"
#include "mock/host.h"

static const struct host *h;
static struct keel_req *client;
static const struct keel_object_api *object;
static const struct keel_hook_api *hook;

static void say(const char *fmt, ...) KEEL_PRINTF(1, 2);
static void say(const char *fmt, ...)
{
	char words[1024];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(words, sizeof(words), fmt, ap);
	va_end(ap);
	h->say(words);
}

static const char *text_or(const char *text)
{
	return text != NULL ? text : "-";
}

/* ---- objects ------------------------------------------------------------------------------------------ */
static struct keel_obj *draft;

static struct keel_obj *job(const char *id)
{
	struct keel_obj *o = object->find(h->self(), "job", id);

	return o != NULL ? o : draft;
}

static void v_draft(char **a)
{
	struct keel_err err = { 0 };

	draft = object->draft(h->self(), "job", a[1], &err);
	say("draft %s", draft != NULL ? object->id(draft) : "none");
}

static void v_publish(char **a)
{
	(void)a;
	say("publish %d", (int)object->publish(draft));
	draft = NULL;
}

static void v_job(char **a)
{
	v_draft(a);
	v_publish(a);
}

static void v_destroy(char **a)
{
	object->destroy(job(a[1]));
	draft = NULL;
	say("%u jobs", object->count(h->self(), "job"));
}

static int32_t op_of(const char *sign)
{
	static const char *const signs[] = { "=", "unset", "+=", "-=", "==", "!=", ">=", ">", "<=", "<" };
	int32_t i = 0;

	while (strcmp(signs[i], sign) != 0)
		i++;
	return i;
}

/* set ID ATTR OP [TEXT]: by the system */
static void v_set(char **a)
{
	const struct keel_attr *attr = object->attr(h->self(), "job", a[2]);
	struct keel_changes *set = object->changes(h->self());
	struct keel_err err = { 0 };
	int32_t code = attr != NULL ? object->change_text(set, job(a[1]), attr, op_of(a[3]), NULL, a[4], &err) : -1;

	if (code == 0)
		object->commit(set);
	else
		object->discard(set);
	if (code != 0)
		say("set %s: %d %d [%s]", a[2], (int)code, (int)err.code, err.text);
}

/* change ID ATTR OP [TEXT]: by a user (an operator when the attribute is written with a capital) */
static void v_change(char **a)
{
	const struct keel_session s = { .size = sizeof(s), .who = "bob@there",
					.roles = a[0][0] == 'c' ? KEEL_USER : KEEL_OPERATORS | KEEL_USER };
	const struct keel_attrop op = { a[2], NULL, a[4], op_of(a[3]) };
	struct keel_changes *set = object->changes(h->self());
	struct keel_err err = { 0 };
	int32_t code = object->change(set, &s, job(a[1]), &op, &err);

	say("change %s: %d %d [%s]", a[2], (int)code, (int)err.code, err.text);
	if (code == 0)
		object->commit(set);
	else
		object->discard(set);
}

static void v_show(char **a)
{
	const struct keel_attr *attr = object->attr(h->self(), "job", a[2]);
	char text[256] = "";
	int32_t len = attr != NULL ? object->text(job(a[1]), attr, a[3], text, sizeof(text)) : -1;

	say("%s.%s is %s (%d), %s, %lld", a[1], a[2], text, (int)len,
	    attr != NULL && object->is_set(job(a[1]), attr) ? "set" : "unset",
	    attr != NULL ? (long long)object->get_int(job(a[1]), attr) : 0);
}

static void v_match(char **a)
{
	struct keel_err err = { 0 };
	int32_t is = object->match(job(a[1]), object->attr(h->self(), "job", a[2]), op_of(a[3]), NULL, a[4], &err);

	say("%s %s %s: %d [%s]", a[2], a[3], text_or(a[4]), (int)is, err.text);
}

static void v_list(char **a)
{
	struct keel_cursor *c = object->cursor(h->self(), "job");
	struct keel_obj *o;

	(void)a;
	while ((o = object->next(c)) != NULL)
		say("there is %s", object->id(o));
	object->cursor_close(c);
}

static void show_row(void *arg, const struct keel_attr_def *def)
{
	(void)arg;
	say("row %s %s", def->name, def->type);
}

static void v_rows(char **a)
{
	(void)a;
	object->rows(h->self(), "job", show_row, NULL);
}

/* ---- points ------------------------------------------------------------------------------------------- */
static const struct {
	const char *name;
	uint32_t id;
} points[] = {
#define HOOK(number, name, kind, daemon, doc) { #name, number },
#include "keel/hook_points.def"
#undef HOOK
};

static uint32_t point(const char *name)
{
	uint32_t i = 0;

	while (strcmp(points[i].name, name) != 0)
		i++;
	return points[i].id;
}

/* An event about a job: its id, itself, and something for the rest. */
struct room {
	uint32_t size, reserved;
	void *fields[16];
};

static void fill(uint32_t id, const char *what, struct room *room)
{
	struct keel_obj *o = job(what);
	uint32_t n;
	const struct keel_field *f = hook->fields(id, &n);
	bool first = true;

	memset(room, 0, sizeof(*room));
	room->size = n > 0 ? f[n - 1].offset + (uint32_t)sizeof(void *) : 8;
	for (uint32_t i = 0; i < n; i++) {
		char *at = (char *)room + f[i].offset;
		const char *text = first ? what : "x";

		if (f[i].type == KEEL_FIELD_STR) {
			memcpy(at, &text, sizeof(text));
			first = false;
		} else if (f[i].type == KEEL_FIELD_OBJ) {
			memcpy(at, &o, sizeof(o));
		}
	}
}

static void on_done(struct keel_mod *m, void *arg, const struct keel_outcome *out)
{
	(void)m;
	(void)arg;
	say("done %d %d [%s] by %s", (int)out->verdict, (int)out->code, text_or(out->text), text_or(out->by));
}

static void raise_with(char **a, struct keel_changes *changes)
{
	struct room event;
	keel_verdict v;

	fill(point(a[1]), a[2], &event);
	v = hook->raise(h->self(), &(struct keel_raise){ .size = sizeof(struct keel_raise), .point = point(a[1]),
							 .event = &event, .req = client, .changes = changes,
							 .done = on_done });
	say("%s of %s: %d", a[1], a[2], (int)v);
}

static void v_raise(char **a)
{
	raise_with(a, NULL);
}

/* alter POINT ID: with a change set that sets Name */
static void v_alter(char **a)
{
	struct keel_changes *set = object->changes(h->self());

	object->change_text(set, job(a[2]), object->attr(h->self(), "job", "Name"), KEEL_SET, NULL, "altered", NULL);
	raise_with(a, set);
}

static void v_note(char **a)
{
	struct room event;

	fill(point(a[1]), a[2], &event);
	hook->note(h->self(), point(a[1]), &event);
	say("%s of %s is noted", a[1], a[2]);
}

static void v_fold(char **a)
{
	struct room event;
	char text[256] = "none";
	int64_t sum;

	fill(point(a[1]), a[2], &event);
	sum = hook->fold(h->self(), point(a[1]), &event, text, sizeof(text));
	say("%s of %s: %lld [%s]", a[1], a[2], (long long)sum, text);
}

static void v_holds(char **a)
{
	char text[512];
	int32_t len = hook->holds_text(h->self(), a[1], text, sizeof(text));

	say("holds of %s: %d [%s]", a[1], (int)len, len > 0 ? text : "");
}

static void v_tapped(char **a)
{
	say("%s is %s", a[1], hook->tapped(h->self(), point(a[1])) ? "tapped" : "not tapped");
}

static keel_verdict own_tap(struct keel_call *c, uint32_t id, const void *event, void *arg)
{
	(void)c;
	(void)id;
	(void)event;
	say("own tap %s", (const char *)arg);
	return KEEL_NEXT;
}

static void v_tap(char **a)
{
	struct keel_err err = { 0 };
	int32_t ret = hook->tap_add(h->self(), point(a[1]), a[2], atoi(a[3]), own_tap, (void *)(uintptr_t)"here", &err);

	say("tap %d [%s]", (int)ret, err.text);
}

static void v_untap(char **a)
{
	hook->tap_remove(h->self(), point(a[1]), a[2]);
}

/* ---- points of one's own --------------------------------------------------------------------------------- */
static void v_about(char **a)
{
	struct keel_point_def d = { .size = sizeof(d) };
	int32_t ret = hook->about(h->self(), hook->point(h->self(), a[1]), &d);

	say("%s: %d", a[1], (int)ret);
	if (ret == 0)
		say("%s is of kind %u, %u fields in %u bytes, tapped %d", d.name, d.kind, d.n_fields, d.event_size,
		    (int)hook->tapped(h->self(), hook->point(h->self(), a[1])));
}

/* ---- modules and time ----------------------------------------------------------------------------------- */
/* Places of files are not the same in both. */
static const char *plain(const char *text)
{
	const char *key = strstr(text, ".conf:");

	key = key != NULL ? strchr(key, ' ') : NULL;
	if (key == NULL && strncmp(text, "conf:", 5) == 0)
		key = strchr(text, ' ');
	return key != NULL ? key + 1 : text;
}

static void tell(const char *what, char **a, int ret, const struct keel_err *err)
{
	say("%s %s: %s [%s]", what, a[1], ret == 0 ? "yes" : "no", ret == 0 ? "" : plain(err->text));
}

static void v_load(char **a)
{
	struct keel_err err = { 0 };
	int ret = h->load(a[1], a[2], &err);

	tell("load", a, ret, &err);
}

static void v_unload(char **a)
{
	struct keel_err err = { 0 };

	tell("unload", a, h->unload(a[1], &err), &err);
}

static void v_reconf(char **a)
{
	struct keel_err err = { 0 };

	tell("reconf", a, h->reconf(a[1], a[2], &err), &err);
}

static void v_wait(char **a)
{
	h->advance(atoll(a[1]));
	say("%s ms later", a[1]);
}

static void v_client(char **a)
{
	(void)a;
	client = h->client();
}

static void v_gone(char **a)
{
	(void)a;
	h->gone(client);
	client = NULL;
}

static const struct {
	const char *name;
	void (*fn)(char **a);
} verbs[] = {
	{ "draft", v_draft }, { "publish", v_publish }, { "job", v_job }, { "destroy", v_destroy },
	{ "set", v_set }, { "change", v_change }, { "operator", v_change }, { "show", v_show },
	{ "match", v_match }, { "list", v_list }, { "rows", v_rows }, { "raise", v_raise },
	{ "about", v_about }, { "alter", v_alter }, { "note", v_note }, { "fold", v_fold }, { "holds", v_holds },
	{ "tapped", v_tapped }, { "tap", v_tap }, { "untap", v_untap }, { "load", v_load },
	{ "unload", v_unload }, { "reconf", v_reconf }, { "wait", v_wait }, { "client", v_client },
	{ "gone", v_gone },
};

/* A line: words, the last one to the end of the line where it begins with '\''. */
static void step(char *line)
{
	char *a[8] = { NULL };
	int n = 0;

	while (*line != '\0' && n < 7) {
		line += strspn(line, " ");
		a[n++] = *line == '\'' ? line + 1 : line;
		line += *line == '\'' ? strlen(line) : strcspn(line, " ");
		if (*line != '\0')
			*line++ = '\0';
	}
	for (size_t i = 0; i < KEEL_COUNT(verbs); i++) {
		if (strcmp(verbs[i].name, a[0]) != 0)
			continue;
		verbs[i].fn(a);
		return;
	}
	fprintf(stderr, "no verb '%s'\n", a[0]);
	abort();
}

static char *play(const struct host *host, const char *story)
{
	char *copy = strdup(story), *save = NULL;

	h = host;
	h->start();
	object = h->group("object");
	hook = h->group("hook");
	client = NULL;
	draft = NULL;
	for (char *line = strtok_r(copy, "\n", &save); line != NULL; line = strtok_r(NULL, "\n", &save))
		step(line);
	free(copy);
	return h->stop();
}

/* What stories are about: not how a host words the life of its modules. */
static char *pick(char *log)
{
	char *to = log;

	for (char *line = log; *line != '\0';) {
		size_t len = strcspn(line, "\n") + 1;

		if (strncmp(line, "Probe;", 6) == 0 || strncmp(line, "Story;", 6) == 0 ||
		    strncmp(line, "Hook;", 5) == 0 || strncmp(line, "Fixture;", 8) == 0) {
			memmove(to, line, len);
			to += len;
		}
		line += len;
	}
	*to = '\0';
	return log;
}

static void show_difference(const char *story, const char *a, const char *b)
{
	while (*a != '\0' && strcspn(a, "\n") == strcspn(b, "\n") && strncmp(a, b, strcspn(a, "\n")) == 0) {
		a += strcspn(a, "\n") + 1;
		b += strcspn(b, "\n") + (b[strcspn(b, "\n")] != '\0');
	}
	fprintf(stderr, "---- %s---- kernel goes on:\n%.800s---- mock:\n%.800s----\n", story, a, b);
}

/* Both say the same, and `must` is in it. */
void agree(const char *story, const char *must)
{
	char *kernel = pick(play(&kernel_host, story)), *mock = pick(play(&mock_host, story));

	CU_ASSERT_STRING_EQUAL(kernel, mock);
	if (strcmp(kernel, mock) != 0)
		show_difference(story, kernel, mock);
	CU_ASSERT_PTR_NOT_NULL(strstr(kernel, must));
	if (strstr(kernel, must) == NULL)
		fprintf(stderr, "---- not there: %s\n%s", must, kernel);
	free(kernel);
	free(mock);
}
