/* SPDX-License-Identifier: Apache-2.0
 *
 * write.c - which users get which mail about a job; letters of other modules (service mail).
 */
#include "mail.h"

#include <stdlib.h>
#include <string.h>

KEEL_ATTRS_OF(server, mail_from, mailer);
KEEL_ATTRS_OF(job, Mail_Users, Job_Owner, Job_Name, Exit_status, resources_used, Mail_Points);

#define MOST_PEOPLE 100
#define USUAL_FROM "adm"

static struct keel_obj *server(struct keel_mod *mod)
{
	return keel_find(mod, "server", keel_server_name(mod));
}

static const char *sender(struct keel_mod *mod)
{
	struct state *st = mod->state;
	struct keel_obj *svr = server(mod);
	const char *from = svr ? keel_get_str(svr, server_mail_from) : NULL;
	bool wrong = from && !address_ok(from);

	if (wrong && !st->wrong_from)
		keel_log(mod, KEEL_LOG_ERROR, "Server", "mail",
			 "mail_from is no address; mail is sent as " USUAL_FROM);
	st->wrong_from = wrong;
	return from && !wrong ? from : USUAL_FROM;
}

/* A manager who may set the attribute may not choose what the daemon executes. */
static void compare_mailer(struct keel_mod *mod)
{
	const struct conf *conf = mod->conf;
	struct state *st = mod->state;
	struct keel_obj *svr = server(mod);
	const char *mailer = svr ? keel_get_str(svr, server_mailer) : NULL;
	bool wrong = mailer && strcmp(mailer, "/usr/sbin/sendmail") != 0 &&
		     strcmp(mailer, conf->sendmail) != 0;

	if (wrong && !st->wrong_mailer)
		keel_log(mod, KEEL_LOG_ERROR, "Server", "mail",
			 "mailer is not what the configuration (mail.sendmail) says: %s is used",
			 conf->sendmail);
	st->wrong_mailer = wrong;
}

static void add_used(void *arg, const char *key, const char *text, uint32_t len)
{
	struct keel_text *t = arg;
	struct keel_text line;

	keel_text_init(&line);
	keel_text_printf(&line, "resources_used.%s=%.*s", key ? key : "", (int)len, text);
	if (!line.failed)
		letter_line(t, line.data);
	keel_text_fini(&line);
}

static const char *or_empty(const char *text)
{
	return text ? text : "";
}

/* With its program, its sender and its addresses, no text yet. NULL: there is no mail program, no address, or no memory. */
static struct mail *mail_begin(struct keel_mod *mod, const char *id, const char *list)
{
	const struct conf *conf = mod->conf;
	struct mail *m = *conf->sendmail ? mail_new(id) : NULL;
	uint32_t bad = 0;

	if (!m)
		return NULL;
	compare_mailer(mod);
	m->timeout = conf->timeout;
	m->program = strdup(conf->sendmail);
	m->from = strdup(sender(mod));
	m->to = addresses(list, MOST_PEOPLE, &bad);
	if (m->to && bad)
		keel_log(mod, KEEL_LOG_DEBUG, "Server", id, "no mail to %u of its Mail_Users: no addresses, or too many", bad);
	if (m->program && m->from && m->to && m->to[0])
		return m;
	mail_free(m);
	return NULL;
}

static void mail_end(struct keel_mod *mod, struct mail *m)
{
	if (m->text)
		post_send(mod, m);
	else
		mail_free(m);
}

static char *text_of(struct keel_obj *job, const struct mail *m, char letter,
		     const char *why)
{
	struct keel_text t;
	char *copy;

	keel_text_init(&t);
	letter_begin(&t, m->from, m->to, m->id, or_empty(keel_get_str(job, job_Job_Name)), letter);
	if (letter == 'e') {
		keel_text_printf(&t, "Exit_status=%lld\n",
				 (long long)keel_get_int(job, job_Exit_status));
		keel_emit(job, job_resources_used, NULL, &(struct keel_emit){ add_used, &t });
	}
	if (why && *why)
		letter_line(&t, why);
	copy = t.failed ? NULL : strdup(t.data);
	keel_text_fini(&t);
	return copy;
}

void write_about(struct keel_mod *mod, struct keel_obj *job, char letter, const char *why)
{
	const char *points = or_empty(keel_get_str(job, job_Mail_Points)), *id = keel_id(job);
	const char *list = or_empty(keel_get_str(job, job_Mail_Users));
	struct mail *m;

	/* Files that were not copied are an error: people who want to hear of those hear of them. */
	if (!points_want(points, letter == 'f' ? 'a' : letter, id))
		return;
	m = mail_begin(mod, id, *list ? list : or_empty(keel_get_str(job, job_Job_Owner)));
	if (!m)
		return;
	m->text = text_of(job, m, letter, why);
	mail_end(mod, m);
}

/* ---- service mail ---------------------------------------------------------------------------------------- */

static void letter_write(struct keel_mod *mod, const struct keel_letter *letter)
{
	struct mail *m = mail_begin(mod, letter->about, letter->to);
	struct keel_text t;

	if (!m)
		return;
	keel_text_init(&t);
	letter_headers(&t, m->from, m->to, letter->subject);
	letter_line(&t, letter->body);
	m->text = t.failed ? NULL : strdup(t.data);
	keel_text_fini(&t);
	mail_end(mod, m);
}

static const struct keel_mail_api table = { .size = sizeof(table), .version = 1, .send = letter_write };

const struct keel_service_def mail_service = {
	.size = sizeof(struct keel_service_def),
	.version = 1,
	.name = "mail",
	.doc = "letters to people",
	.table = &table,
};
