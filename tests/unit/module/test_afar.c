/* SPDX-License-Identifier: Apache-2.0
 *
 * test_afar.c - verbs asked of another host's daemon: who may, what comes back, and what a host that is not to be
 * trusted may send instead. The links and the requests are the test's.
 */
#include "module/fixture.h"

#include "link/links.h"
#include "msg/out.h"

static const struct keel_request_def *at; /* the row keelson.at */
static void (*on_ask)(struct keel_mod *, const char *, const struct keel_msg *);
static void (*on_told)(struct keel_mod *, const char *, const struct keel_msg *);
static struct keel_mod *kernel;
static struct keel_msg *asked; /* the body of the request */
static uint32_t roles;
static int32_t link_state; /* what sending says */
static struct {
	char peer[32], name[32];
	struct keel_msg *body;
} sent;
static char answer[512];
static struct parts of_links; /* the kernel's, but a registry of its own: the group "link" is the test's */

/* ---- what the kernel meets ------------------------------------------------------------------------------- */
static int row_add(void *arg, struct owner *owner, const void *def, struct keel_err *err)
{
	(void)arg, (void)err;
	kernel = &owner->pub;
	if (strcmp(((const struct keel_request_def *)def)->name, "keelson.at") == 0)
		at = def;
	return 0;
}

static void row_remove(void *arg, struct owner *owner, const void *def)
{
	(void)arg, (void)owner, (void)def;
}

static int32_t link_on(struct keel_mod *m, const char *name, uint32_t from,
		       void (*fn)(struct keel_mod *, const char *, const struct keel_msg *))
{
	(void)m;
	if (strcmp(name, "keelson.ask") == 0)
		on_ask = fn;
	else
		on_told = fn;
	CU_ASSERT_EQUAL(from, strcmp(name, "keelson.ask") == 0 ? KEEL_SERVER : KEEL_MOM);
	return 0;
}

static struct keel_msg *finished(struct keel_out *out)
{
	struct keel_msg *m = NULL;
	uint32_t len;
	const char *bytes = out_bytes(out, &len);

	CU_ASSERT_FATAL(bytes != NULL && msg_open(bytes, len, &m) == 0);
	out_drop(out);
	return m;
}

static int32_t link_send(struct keel_mod *m, const char *peer, const char *name, struct keel_out *out)
{
	(void)m;
	snprintf(sent.peer, sizeof(sent.peer), "%s", peer);
	snprintf(sent.name, sizeof(sent.name), "%s", name);
	msg_destroy(sent.body);
	sent.body = finished(out);
	return link_state;
}

static const struct keel_session *session(struct keel_req *req)
{
	static struct keel_session s = { .size = sizeof(s), .who = "root@test" };

	(void)req;
	s.roles = roles;
	return &s;
}

static const struct keel_msg *body(struct keel_req *req)
{
	(void)req;
	return asked;
}

static void reply(struct keel_req *req, int32_t code, const char *fmt, ...)
{
	va_list ap;
	int n = snprintf(answer, sizeof(answer), "%d ", code);

	(void)req;
	va_start(ap, fmt);
	if (fmt != NULL)
		vsnprintf(answer + n, sizeof(answer) - (size_t)n, fmt, ap);
	va_end(ap);
}

static void reply_out(struct keel_req *req, struct keel_out *out)
{
	struct keel_msg *m = finished(out);
	uint32_t n = 0;
	const char *const *lines = msg_api()->strings(m, "lines", &n);

	(void)req;
	snprintf(answer, sizeof(answer), "%u lines: %s", n, n > 0 ? lines[0] : "");
	msg_destroy(m);
}

static void begin(void)
{
	static const struct registry_kind kind = { "REQUEST", row_add, row_remove, NULL, 0 };
	static const struct keel_request_api request = { .size = sizeof(request), .session = session, .body = body,
							 .reply = reply, .reply_out = reply_out };
	static const struct keel_link_api link = { .size = sizeof(link), .on = link_on, .send = link_send };

	kernel_start();
	modules_destroy(k.parts.modules);
	CU_ASSERT_FATAL(registry_kind(k.parts.registry, &kind) == 0 &&
			registry_offer(k.parts.registry, "request", &request) == 0 &&
			registry_offer(k.parts.registry, "msg", msg_api()) == 0 &&
			registry_offer(k.parts.registry, "link", &link) == 0);
	of_links = k.parts;
	CU_ASSERT_FATAL(registry_create(&of_links.registry) == 0 &&
			links_create(&of_links, &(struct links_conf){ .grace_ms = DEADLINE_MS }, &k.parts.links,
				     &k.err) == 0 &&
			links_start(k.parts.links, &k.err) == 0);
	CU_ASSERT_FATAL(modules_create(&k.parts, fixtures_dir(), &k.parts.modules) == 0);
	modules_set_files(k.parts.modules, &kernel_files);
	roles = KEEL_OPERATORS;
	link_state = 0;
	answer[0] = '\0';
}

static void end(void)
{
	msg_destroy(sent.body);
	msg_destroy(asked);
	sent.body = asked = NULL;
	modules_destroy(k.parts.modules);
	k.parts.modules = NULL;
	links_destroy(k.parts.links);
	registry_destroy(of_links.registry);
	kernel_stop();
}

/* `keelson.at` with these arguments. */
static void ask(const char *host, const char *verb, const char *arg)
{
	const char *args[] = { host, verb, arg };
	struct keel_out *out = out_create();

	out_put_strings(out, "args", args, arg != NULL ? 3 : verb != NULL ? 2 : 1);
	msg_destroy(asked);
	asked = finished(out);
	answer[0] = '\0';
	at->handler(kernel, NULL);
}

/* What a host says. `lines` and `text`: or NULL. */
static void tell(const char *peer, int64_t number, int64_t refused, const char *text, const char *line)
{
	struct keel_out *out = out_create();
	struct keel_msg *m;

	out_put_int(out, "number", number);
	if (refused != 0)
		out_put_int(out, "refused", refused);
	if (text != NULL)
		out_put_str(out, "text", text);
	if (line != NULL)
		out_put_strings(out, "lines", &line, 1);
	m = finished(out);
	on_told(kernel, peer, m);
	msg_destroy(m);
}

static bool is_sent(void *arg)
{
	(void)arg;
	return sent.peer[0] != '\0';
}

/* ---- stories ----------------------------------------------------------------------------------------------- */
static void who_may_and_what(void)
{
	static const struct {
		const char *host, *verb;
		uint32_t roles;
		const char *answer;
	} rows[] = {
		{ "n2", NULL, KEEL_MANAGERS, "15004 only the kernel's own verbs" },
		{ "n2", "at", KEEL_MANAGERS, "15004 only the kernel's own verbs" },
		{ "n2", "explain", KEEL_MANAGERS, "15004 only the kernel's own verbs" },
		{ "n2", "reload", KEEL_OPERATOR, "15007" },
		{ "n2", "modules", KEEL_USER, "15007" },
	};

	begin();
	for (size_t i = 0; i < KEEL_COUNT(rows); i++) {
		roles = rows[i].roles;
		ask(rows[i].host, rows[i].verb, NULL);
		CU_ASSERT_EQUAL(strncmp(answer, rows[i].answer, strlen(rows[i].answer)), 0);
		CU_ASSERT_PTR_NULL(sent.body);
	}
	roles = KEEL_MANAGERS;
	link_state = -ENOTCONN;
	ask("n9", "modules", NULL);
	CU_ASSERT_PTR_NOT_NULL(strstr(answer, "15010 there is no link to host n9 now"));
	end();
}

static void an_answer_comes_once_and_from_who_was_asked(void)
{
	int64_t number;

	begin();
	ask("n2", "hooks", "job_submit");
	CU_ASSERT_STRING_EQUAL(sent.peer, "n2");
	CU_ASSERT_STRING_EQUAL(sent.name, "keelson.ask");
	CU_ASSERT_STRING_EQUAL(msg_api()->str(sent.body, "verb"), "hooks");
	CU_ASSERT_STRING_EQUAL(msg_api()->str(sent.body, "arg"), "job_submit");
	CU_ASSERT_STRING_EQUAL(msg_api()->str(sent.body, "who"), "root@test");
	number = msg_api()->integer(sent.body, "number", 0);
	tell("n3", number, 0, NULL, "not mine");
	tell("n2", number + 1, 0, NULL, "of another question");
	CU_ASSERT_STRING_EQUAL(answer, "");
	tell("n2", number, 0, NULL, "mine");
	CU_ASSERT_STRING_EQUAL(answer, "1 lines: mine");
	answer[0] = '\0';
	tell("n2", number, 0, NULL, "mine again");
	CU_ASSERT_STRING_EQUAL(answer, "");
	ask("n2", "holds", NULL);
	tell("n2", number + 1, 15010, "it cannot", NULL);
	CU_ASSERT_STRING_EQUAL(answer, "15010 n2: it cannot");
	ask("n2", "holds", NULL);
	tell("n2", number + 2, -5, NULL, NULL);
	CU_ASSERT_STRING_EQUAL(answer, "15011 n2: no answer that can be read");
	for (int i = 0; i < 64; i++) { /* past kernel/module/afar.c ERRANDS_MAX */
		ask("n2", "holds", NULL);
		CU_ASSERT_STRING_EQUAL(answer, "");
	}
	ask("n2", "holds", NULL);
	CU_ASSERT_PTR_NOT_NULL(strstr(answer, "too many questions"));
	end(); /* with questions that are open */
}

static void a_link_that_is_lost_answers_at_once(void)
{
	begin();
	links_carried_up(k.parts.links, "n2");
	links_carried_up(k.parts.links, "n3");
	ask("n2", "hooks", NULL);
	links_carried_down(k.parts.links, "n3");
	CU_ASSERT_STRING_EQUAL(answer, "");
	links_carried_down(k.parts.links, "n2");
	CU_ASSERT_STRING_EQUAL(answer, "15010 the link to host n2 was lost before it answered; ask again, and look "
				       "first whether a change was made");
	answer[0] = '\0';
	links_carried_up(k.parts.links, "n2");
	links_carried_down(k.parts.links, "n2"); /* nobody waits any more */
	CU_ASSERT_STRING_EQUAL(answer, "");
	end();
}

static void a_host_answers_its_server(void)
{
	static const struct {
		const char *verb, *arg;
		int64_t refused;
		const char *text;
	} rows[] = {
		{ "hooks", "job_purged", 0, "1 job_purged.on_job_purged" },
		{ "hooks", "nope", 15004, "there is no hook point 'nope'" },
		{ "sing", NULL, 15004, "does not know that verb" },
		{ NULL, NULL, 15004, "does not know that verb" },
		{ "unload", "nope", 15010, "module nope is not loaded" },
	};

	begin();
	CU_ASSERT_EQUAL(up("job_purged: { }"), 0);
	for (size_t i = 0; i < KEEL_COUNT(rows); i++) {
		struct keel_out *out = out_create();
		struct keel_msg *m;
		uint32_t n = 0;
		const char *const *lines, *text;

		out_put_int(out, "number", 7);
		if (rows[i].verb != NULL)
			out_put_str(out, "verb", rows[i].verb);
		if (rows[i].arg != NULL)
			out_put_str(out, "arg", rows[i].arg);
		m = finished(out);
		sent.peer[0] = '\0';
		on_ask(kernel, "server", m);
		msg_destroy(m);
		CU_ASSERT_EQUAL(loop_run_until(k.parts.loop, is_sent, NULL, DEADLINE_MS), 0);
		CU_ASSERT_STRING_EQUAL(sent.peer, "server");
		CU_ASSERT_STRING_EQUAL(sent.name, "keelson.told");
		CU_ASSERT_EQUAL(msg_api()->integer(sent.body, "number", 0), 7);
		CU_ASSERT_EQUAL(msg_api()->integer(sent.body, "refused", 0), rows[i].refused);
		lines = msg_api()->strings(sent.body, "lines", &n);
		text = lines != NULL && n > 0 ? lines[0] : msg_api()->str(sent.body, "text");
		CU_ASSERT_PTR_NOT_NULL_FATAL(text);
		CU_ASSERT_PTR_NOT_NULL(strstr(text, rows[i].text));
	}
	end();
}

TESTS_MAIN("module/afar", TEST(who_may_and_what), TEST(an_answer_comes_once_and_from_who_was_asked),
	   TEST(a_link_that_is_lost_answers_at_once), TEST(a_host_answers_its_server))
