/* SPDX-License-Identifier: Apache-2.0
 *
 * listing.c - what job, queue and server listings share: the connection, full formats, the end.
 */
#include "listing.h"

#include <stdlib.h>
#include <string.h>

#include "attr_list.h"
#include "pbs_error.h"
#include "pbs_ifl.h"
#include "reach.h"

void listing_hang_up(struct listing *l)
{
	if (l->c > 0)
		pbs_disconnect(l->c);
	l->c = -1;
	free(l->facts.name);
	free(l->facts.comment);
	free(l->facts.version);
	l->facts = (struct facts){ 0 };
}

int listing_reach(struct listing *l, const char *server)
{
	if (l->c > 0 && strcmp(l->server, server) == 0)
		return l->c;
	listing_hang_up(l);
	out_flush(&l->out);
	l->c = reach_connect(server);
	if (l->c < 0) {
		int error = pbs_errno;

		fprintf(stderr, "qstat: cannot connect to server %s (errno=%d)\n",
			reach_default_name(), error);
		l->status = -1;
		return -1;
	}
	strcpy(l->server, server);
	if (l->opt->alternate)
		l->headed = false; /* that table names its server */
	return l->c;
}

const struct facts *listing_facts(struct listing *l)
{
	struct attrl sequence = { .name = (char *)"max_job_sequence_id" };
	struct attrl version = { .next = &sequence, .name = (char *)ATTR_version };
	struct attrl want = { .next = &version, .name = (char *)ATTR_comment };
	struct batch_status *server;
	const char *value;

	if (l->facts.known || l->c < 0)
		return &l->facts;
	l->facts.known = true;
	server = pbs_statserver(l->c, &want, NULL);
	if (!server)
		return &l->facts;
	l->facts.name = server->name ? strdup(server->name) : NULL;
	value = status_value(server, ATTR_comment, NULL);
	l->facts.comment = value ? strdup(value) : NULL;
	value = status_value(server, ATTR_version, NULL);
	l->facts.version = value ? strdup(value) : NULL;
	value = status_value(server, sequence.name, NULL);
	l->facts.long_ids = value && strtoll(value, NULL, 10) > PBS_DFLT_MAX_JOB_SEQUENCE_ID;
	pbs_statfree(server);
	return &l->facts;
}

void listing_complain(struct listing *l, const char *id)
{
	out_flush(&l->out);
	l->status = reach_complain("qstat", l->c, id);
}

void listing_comment(struct listing *l)
{
	const struct facts *f = listing_facts(l);

	if (f->comment && *f->comment) {
		out_in_line(&l->out, f->comment, strlen(f->comment));
		out_char(&l->out, '\n');
	}
}

/* Custom resources: their JSON type is what they were created with. */
static void learn_resources(struct listing *l)
{
	static const char *const numbers[] = { "long", "float" };
	struct batch_status *list = l->c > 0 ? pbs_statrsc(l->c, NULL, NULL, NULL) : NULL, *one;
	struct attrl *a;

	for (one = list; one; one = one->next)
		for (a = one->attribs; a; a = a->next) {
			if (strcmp(a->name, RESC_TYPE) != 0 || !a->value)
				continue;
			trait_add_resource(&l->show.traits, one->name,
					   strcmp(a->value, numbers[0]) == 0 ||
							   strcmp(a->value, numbers[1]) == 0 ?
						   TRAIT_NUMBER :
						   TRAIT_STRING);
		}
	pbs_statfree(list);
}

void listing_json_begin(struct listing *l)
{
	const char *version = listing_facts(l)->version, *server = reach_default_name();

	if (l->json_begun)
		return;
	l->json_begun = true;
	if (!version)
		version = reach_own_version();
	learn_resources(l);
	jout_begin(&l->json, &l->out);
	jout_key(&l->json, "timestamp", strlen("timestamp"));
	jout_integer(&l->json, (long long)l->now);
	jout_key(&l->json, "pbs_version", strlen("pbs_version"));
	jout_string(&l->json, version, strlen(version));
	jout_key(&l->json, "pbs_server", strlen("pbs_server"));
	jout_string(&l->json, server, strlen(server));
	jout_open(&l->json, l->container);
}

void listing_json_end(struct listing *l)
{
	/* no request could be sent because the operands were malformed: still a document */
	if (l->opt->full && l->opt->format == FORMAT_JSON && l->status > 0)
		listing_json_begin(l);
	if (!l->json_begun)
		return;
	jout_close(&l->json);
	jout_end(&l->json);
}

void listing_full(struct listing *l, const char *label, const struct batch_status *one)
{
	if (l->opt->format == FORMAT_JSON) {
		if (l->several && names_add(&l->seen, one->name, strlen(one->name)) != 1)
			return;
		jout_open(&l->json, one->name);
		json_show_attributes(&l->json_show, one->attribs, NULL);
		jout_close(&l->json);
		return;
	}
	out_str(&l->out, label);
	out_bytes(&l->out, ": ", 2);
	if (l->opt->format == FORMAT_DSV) {
		show_dsv_text(&l->out, one->name, strlen(one->name), l->opt->delimiter);
		show_dsv(&l->show, one->attribs, l->opt->delimiter, NULL);
	} else {
		out_str(&l->out, one->name);
		out_char(&l->out, '\n');
		show_attributes(&l->show, one->attribs, !l->opt->wide);
	}
	out_char(&l->out, '\n');
}
