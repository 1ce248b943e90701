/* SPDX-License-Identifier: Apache-2.0
 *
 * template.c - jobs name the ticket they belong to: `qsub -W template_id=ABC-12`.
 *
 * An attribute, two keys of the configuration, and a tap at job_submit: may this job be queued? A ticket that looks wrong
 * is refused, and one without a file in `tickets`: that look may be slow, so a worker does it while the submission waits.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "keel/keel.h"
#include "keel/slow.h"
#include "pbs_error.h"

struct conf {
	const char *tickets;
	int64_t patience; /* ms */
};
static const struct keel_conf_rule rules[] = {
	KEEL_CONF_RULE(STRING, struct conf, tickets, .fallback = "", .doc = "directory with a file per ticket; \"\": any will do"),
	KEEL_CONF_RULE(DURATION, struct conf, patience, .fallback = "2s", .max = 3600000, .doc = "how long a look at it may take"),
};
KEEL_ATTR(ticket, job, template_id, "string", .order = 900, .flags = KEEL_ATTR_SAVE, .read_roles = KEEL_EVERYBODY,
	  .write_roles = KEEL_EVERYBODY, .doc = "the ticket that the job belongs to");
static const struct keel_contrib contribs[] = { KEEL_ROW(ATTR, ticket_row) };

/* On a worker thread, which sees nothing but its argument: the path of a ticket, "" when there is none. */
static void look_up(void *path)
{
	FILE *f = fopen(path, "re");

	if (!f || fclose(f) != 0)
		*(char *)path = '\0';
}

static keel_verdict answer(struct keel_call *c, void *path)
{
	return *(char *)path ? KEEL_NEXT : keel_reject(c, PBSE_BADATVAL, "template_id: there is no such ticket");
}

static keel_verdict on_submit(struct keel_call *c, const struct keel_ev_job_submit *ev)
{
	const struct conf *cf = keel_conf(c);
	char id[65], *path;
	int32_t len = keel_call_get(c, ev->job, keel_attr_name(ticket), NULL, id, sizeof(id));

	if (len >= (int32_t)sizeof(id) || (len >= 0 && (!strchr(id, '-') || strchr(id, '/'))))
		return keel_reject(c, PBSE_BADATVAL, "template_id: expected KEY-NUMBER, got '%s'", id);
	if (len < 0 || !*cf->tickets)
		return KEEL_NEXT;
	path = malloc(strlen(cf->tickets) + sizeof(id) + 1);
	if (!path)
		return keel_fail(c, "no memory to look up the ticket");
	sprintf(path, "%s/%s", cf->tickets, id);
	return keel_hold_work(c, "looking up the ticket", cf->patience, look_up, answer, path, free);
}
static const struct keel_tap taps[] = { KEEL_TAP(job_submit, on_submit, .order = 10) };
KEEL_MODULE(.name = "template", .version = "1.0", .vendor = "Example", .summary = "jobs name the ticket they belong to",
	    .roles = KEEL_SERVER, KEEL_CONF(struct conf, rules), KEEL_CONTRIBS(contribs), KEEL_TAPS(taps));
