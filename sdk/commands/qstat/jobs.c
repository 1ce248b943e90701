/* SPDX-License-Identifier: Apache-2.0
 *
 * jobs.c - lists jobs: requests what an operand names, prints each job as it arrives.
 *
 * The head of a table is printed with the reply for the first operand; if that one failed, the lines of later operands
 * have no head. The server selects by state and owner where it can; the result is checked here in any case.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "est.h"
#include "listing.h"
#include "pbs_error.h"
#include "reach.h"
#include "table.h"

static bool is_full(const struct options *opt)
{
	return opt->full && !opt->alternate;
}

void jobs_head(struct listing *l)
{
	const struct facts *f;

	if (l->headed || !l->first)
		return;
	l->headed = true;
	f = listing_facts(l);
	if (l->opt->alternate) {
		alternate_head(&l->out, l->opt, f->long_ids,
			       f->name ? f->name : reach_default_name(), f->comment);
	} else {
		listing_comment(l);
		table_head(&l->out, l->opt, f->long_ids);
	}
}

static int each_job(struct batch_status *one, void *arg)
{
	struct listing *l = arg;
	struct row r;

	if (l->opt->express)
		names_add(&l->answered, one->name, strlen(one->name));
	if (is_full(l->opt)) {
		if (l->opt->states || l->opt->users || l->opt->arrays) {
			row_read(&r, one);
			if (!row_chosen(&r, l->opt, l->named))
				return 0;
		}
		listing_full(l, "Job Id", one);
		return l->out.error;
	}
	row_read(&r, one);
	if (!row_chosen(&r, l->opt, l->named))
		return 0;
	if (l->opt->estimate)
		return est_add(l->est, &r);
	jobs_head(l);
	if (l->opt->alternate)
		alternate_line(&l->out, l->opt, l->facts.long_ids, &r, l->now);
	else
		table_line(&l->out, l->opt, l->facts.long_ids, &r);
	return l->out.error;
}

/* The criteria of -u and of the state letters, for the server. */
static struct attropl *choice(const struct options *opt, struct attropl criteria[2])
{
	size_t n = 0;

	if (opt->users)
		criteria[n++] = (struct attropl){ NULL, (char *)ATTR_owner, NULL,
						  (char *)opt->users, EQ };
	if (opt->states)
		criteria[n++] = (struct attropl){ NULL, (char *)ATTR_state, NULL,
						  (char *)opt->states, EQ };
	if (n == 2)
		criteria[0].next = &criteria[1];
	return n > 0 ? criteria : NULL;
}

/* Returns 0, or the error. */
static int jobs_request(struct listing *l, const char *id)
{
	struct attrl want[ROW_WANTED];
	struct attropl criteria[2], *select = NULL;
	char extend[3] = "";
	int rc;

	/* the facts go first: no other request can be sent while the reply is received */
	if (!is_full(l->opt) || l->opt->format == FORMAT_JSON)
		listing_facts(l);
	if (is_full(l->opt) && l->opt->format == FORMAT_JSON)
		listing_json_begin(l);
	l->named = isdigit((unsigned char)*id) != 0;
	if (!l->named)
		select = choice(l->opt, criteria);
	strcat(extend, l->opt->subjobs ? "t" : "");
	strcat(extend, l->opt->history ? "x" : "");
	rc = pbs_stat_each(l->c, "job", id, select, is_full(l->opt) ? NULL : row_want(want), *extend ? extend : NULL,
			   each_job, l);
	return l->out.error ? 0 : rc;
}

/* A job unknown to its server may have moved: sends the request to the server that the default one names. */
static int moved_job_request(struct listing *l, const struct operand *op)
{
	char *place;
	int rc = PBSE_UNKJOBID;

	if (listing_reach(l, "") < 0)
		return -1;
	place = pbs_locjob(l->c, op->id, NULL);
	if (place && strcmp(place, op->server) != 0)
		rc = listing_reach(l, place) < 0 ? -1 : jobs_request(l, op->id);
	free(place);
	return rc;
}

static void complain_of(struct listing *l, int rc, const char *id)
{
	if (rc == PBSE_HISTJOBID) {
		out_flush(&l->out);
		fprintf(stderr,
			"qstat: %s Job has finished, use -x or -H to obtain historical job "
			"information\n", id);
		l->status = rc;
	} else if (rc == PBSE_UNKQUE) { /* whether the server's text names it or not */
		out_flush(&l->out);
		fprintf(stderr, "qstat: Unknown queue destination %s\n", id);
		l->status = rc;
	} else if (rc == PBSE_JOBHISTNOTSET) {
		int before = l->status;

		listing_complain(l, id);
		l->status = before; /* printed, but no error */
	} else {
		listing_complain(l, id);
	}
}

static void list_operand(struct listing *l, const struct operand *op)
{
	char original[256] = "";
	int rc, original_error;

	if (listing_reach(l, op->server) < 0)
		return;
	rc = jobs_request(l, op->id);
	if (rc == PBSE_UNKJOBID && op->named && isdigit((unsigned char)op->id[0])) {
		const char *text = pbs_geterrmsg(l->c);

		snprintf(original, sizeof(original), "%s", text ? text : "");
		original_error = rc;
		rc = moved_job_request(l, op);
		if (rc != 0) { /* the first server's error is printed */
			out_flush(&l->out);
			fprintf(stderr, "qstat: %s %s\n", original, op->id);
			l->status = original_error;
		}
		return;
	}
	if (rc != 0)
		complain_of(l, rc, op->id);
}

static bool read_operand(struct listing *l, const char *word, struct operand *op)
{
	const char *start = word + strspn(word, " \t");
	bool is_job = isdigit((unsigned char)*start);

	*op = (struct operand){ 0 };
	if (*word == '\0')
		return true;
	if ((is_job ? operand_job(word, op) : operand_destination(word, op)) == 0)
		return true;
	out_flush(&l->out);
	fprintf(stderr, "qstat: illegally formed %s: %s\n",
		is_job || !strchr(word, '@') ? "job identifier" : "destination", word);
	l->status = 1;
	return false;
}

void jobs_list(struct listing *l, const char *word)
{
	struct operand op;

	l->container = "Jobs";
	if (read_operand(l, word, &op))
		list_operand(l, &op);
	if (l->est)
		est_print(l->est, l);
}

/* Returns the ids of the server of ops[first], joined by commas, which the caller frees. */
static char *join_ids(const struct operand *ops, int n, int first)
{
	size_t size = 1, len = 0;
	char *ids;
	int i;

	for (i = first; i < n; i++)
		size += strlen(ops[i].id) + 1;
	ids = malloc(size);
	for (i = first; ids && i < n; i++) {
		if (strcmp(ops[i].server, ops[first].server) != 0)
			continue;
		if (len > 0)
			ids[len++] = ',';
		strcpy(ids + len, ops[i].id);
		len += strlen(ops[i].id);
	}
	return ids;
}

/* One request for the ids of one server. Those missing in the reply are requested one by one, since each has its own
 * error. Ids that are done become "". */
static void list_group(struct listing *l, struct operand *ops, int n, int first)
{
	char *ids = join_ids(ops, n, first), server[OPERAND_SERVER_SIZE];
	bool reached;
	int i;

	memcpy(server, ops[first].server, sizeof(server));
	reached = ids && listing_reach(l, server) > 0;
	names_clear(&l->answered);
	if (reached)
		jobs_request(l, ids);
	free(ids);
	for (i = first; i < n; i++) {
		if (!ops[i].id[0] || strcmp(ops[i].server, server) != 0)
			continue;
		if (reached && names_add(&l->answered, ops[i].id, strlen(ops[i].id)) == 1 &&
		    !strchr(ops[i].id, '-'))
			list_operand(l, &ops[i]);
		ops[i].id[0] = '\0';
	}
}

void jobs_list_express(struct listing *l, char **words, int n)
{
	struct operand *ops = calloc((size_t)n, sizeof(*ops));
	int i, kept = 0;

	l->container = "Jobs";
	for (i = 0; ops && i < n; i++)
		kept += read_operand(l, words[i], &ops[kept]);
	for (i = 0; i < kept; i++)
		if (ops[i].id[0])
			list_group(l, ops, kept, i);
	free(ops);
	if (l->est)
		est_print(l->est, l);
}
