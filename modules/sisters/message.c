/* SPDX-License-Identifier: Apache-2.0
 *
 * message.c - messages between the hosts of a job. Each names the job and its run; who sends it is the link's peer, which
 * has to be the primary of the job, or, on the primary, another host of it. Any other is ignored, as is what is stale.
 *
 *   to a sister     sister.join .order .got .lost, .signal .spawn, .spawned .over .known
 *   to the primary  sister.joined .none .failed .exceeded .answer .used .ended .output, .signal .spawn, .spawned .over .known
 */
#include "sisters.h"

#include <string.h>

/* Codes of an end because of a limit. */
#define LIMIT_FIRST (-24)
#define LIMIT_LAST (-29)

struct keel_out *message(struct keel_mod *mod, const struct job *j)
{
	struct keel_out *out = keel_out(mod);

	keel_put_str(out, "id", j->id);
	keel_put_int(out, "run", j->run);
	return out;
}

/* What is lost with a link is said again on the next one. */
void message_send(struct keel_mod *mod, const struct job *j, uint32_t host, const char *name, struct keel_out *out)
{
	keel_link_send(mod, pair_peer(&j->hosts[host]), name, out);
}

static const char *text_of(const struct keel_msg *m, const char *key)
{
	const char *text = keel_msg_str(m, key);

	return text ? text : "";
}

/* ---- to a sister ------------------------------------------------------------------------------------------- */
static void on_join(struct keel_mod *mod, struct job *j, uint32_t host, const struct keel_msg *m)
{
	(void)mod, (void)host, (void)m;
	sister_asked(&j->sister);
}

static void on_order(struct keel_mod *mod, struct job *j, uint32_t host, const struct keel_msg *m)
{
	const char *name = text_of(m, "name");
	int64_t number = keel_msg_int(m, "number", 0);

	(void)mod, (void)host;
	if (number > 0 && *name && strlen(name) <= PRIMARY_NAME_MAX)
		sister_order(&j->sister, (uint64_t)number, name);
}

/* ---- to the primary ------------------------------------------------------------------------------------------ */
static void on_joined(struct keel_mod *mod, struct job *j, uint32_t host, const struct keel_msg *m)
{
	output_say(mod, j, host);
	primary_joined(&j->primary, host, keel_msg_int(m, "stopped", 0) != 0);
}

static void on_none(struct keel_mod *mod, struct job *j, uint32_t host, const struct keel_msg *m)
{
	(void)mod, (void)m;
	primary_nothing(&j->primary, host);
}

/* -4: an event refused it, without a word of what shall become of the job. */
static void on_failed(struct keel_mod *mod, struct job *j, uint32_t host, const struct keel_msg *m)
{
	int64_t status = keel_msg_int(m, "status", STATUS_RETRY), code = keel_msg_int(m, "code", 0);

	(void)mod;
	if (status >= 0 || status < -99 || status == -4)
		status = primary_refusal(code > 0 && code < 99999 ? (int32_t)code : 0);
	if (code <= 0 || code > 99999)
		code = PBSE_HOOK_REJECT;
	primary_failed(&j->primary, host, (int32_t)status, (int32_t)code, text_of(m, "text"));
}

static void on_answer(struct keel_mod *mod, struct job *j, uint32_t host, const struct keel_msg *m)
{
	int64_t code = keel_msg_int(m, "code", PBSE_SYSTEM);

	(void)mod;
	primary_answer(&j->primary, host, (uint64_t)keel_msg_int(m, "number", 0), code < -99 || code > 99999 ? PBSE_SYSTEM : (int32_t)code,
		       text_of(m, "text"));
}

static void on_used(struct keel_mod *mod, struct job *j, uint32_t host, const struct keel_msg *m)
{
	uint32_t n = 0;
	const char *const *items = keel_msg_strings(m, "items", &n);

	(void)mod;
	if (items && n > 0 && n <= ITEMS_MAX)
		keel_part_add(j->id, j->hosts[host].name, items, n);
}

/* The job is over a limit there. */
static void on_exceeded(struct keel_mod *mod, struct job *j, uint32_t host, const struct keel_msg *m)
{
	int64_t status = keel_msg_int(m, "status", 0);
	char line[200];

	(void)mod;
	if (status > LIMIT_FIRST || status < LIMIT_LAST)
		return;
	snprintf(line, sizeof(line), "%.120s on %.60s", text_of(m, "text"), j->hosts[host].name);
	for (char *at = line; *at; at++)
		if ((unsigned char)*at < ' ' || *at == 0x7f)
			*at = ' ';
	keel_part_fail(j->id, (int32_t)status, line);
}

static void on_ended(struct keel_mod *mod, struct job *j, uint32_t host, const struct keel_msg *m)
{
	on_used(mod, j, host, m);
	if (keel_msg_int(m, "left", 0) != 0) /* what the server says of it here comes later, or came while no daemon was here */
		primary_released(&j->primary, host);
	else
		primary_ended(&j->primary, host);
}

/* ---- all --------------------------------------------------------------------------------------------------------- */
enum side { TO_SISTER = 1, TO_PRIMARY = 2 };

static const struct {
	const char *name;
	message_fn *fn;
	uint32_t to;
} table[] = {
	{ "join", on_join, TO_SISTER },	      { "order", on_order, TO_SISTER },	    { "got", on_got, TO_SISTER },
	{ "lost", on_host_lost, TO_SISTER },  { "joined", on_joined, TO_PRIMARY },  { "none", on_none, TO_PRIMARY },
	{ "failed", on_failed, TO_PRIMARY },  { "answer", on_answer, TO_PRIMARY },  { "used", on_used, TO_PRIMARY },
	{ "ended", on_ended, TO_PRIMARY },    { "exceeded", on_exceeded, TO_PRIMARY }, { "output", on_output, TO_PRIMARY },  { "spawn", on_spawn, TO_SISTER | TO_PRIMARY },
	{ "signal", on_signal, TO_SISTER | TO_PRIMARY },
	{ "spawned", on_spawned, TO_SISTER | TO_PRIMARY },
	{ "over", on_over, TO_SISTER | TO_PRIMARY },
	{ "known", on_over_known, TO_SISTER | TO_PRIMARY },
};

static void nothing_here(struct keel_mod *mod, const char *peer, const char *id, int64_t run)
{
	struct keel_out *out = keel_out(mod);

	keel_put_str(out, "id", id);
	keel_put_int(out, "run", run);
	keel_link_send(mod, peer, "sister.none", out);
}

static void on_message(struct keel_mod *mod, const char *peer, const struct keel_msg *m)
{
	static const char prefix[] = "sister.";
	const char *id = keel_msg_str(m, "id"), *name = text_of(m, "msg");
	int64_t run = keel_msg_int(m, "run", -1);
	struct job *j = job_find(mod, id, run);
	int host = j ? pair_host(j, peer) : -1;
	uint32_t side;

	if (strncmp(name, prefix, sizeof(prefix) - 1) != 0 || !id || strlen(id) > ID_MAX)
		return;
	name += sizeof(prefix) - 1;
	if (!j && strcmp(name, "join") == 0)
		nothing_here(mod, peer, id, run);
	if (host < 0 || (uint32_t)host == j->self || (j->self != 0 && host != 0) ||
	    (j->self == 0 && j->primary.hosts[host].state == HOST_RELEASED))
		return;
	side = j->self == 0 ? TO_PRIMARY : TO_SISTER;
	for (size_t i = 0; i < KEEL_COUNT(table); i++)
		if (strcmp(table[i].name, name) == 0 && table[i].to & side) {
			table[i].fn(mod, j, (uint32_t)host, m);
			return;
		}
}

int32_t messages_listen(struct keel_mod *mod)
{
	char name[32];
	int32_t r = 0;

	for (size_t i = 0; i < KEEL_COUNT(table) && r == 0; i++) {
		snprintf(name, sizeof(name), "sister.%s", table[i].name);
		r = keel_link_on(mod, name, KEEL_MOM | KEEL_SERVER, on_message);
	}
	return r;
}
