/* SPDX-License-Identifier: Apache-2.0
 *
 * stat.c - the status calls: one class each.
 */

#include "connection.h"
#include "pbs_error.h"
#include "status.h"
#include "verify.h"

#define STAT(function, klass, id, parameters)                                     \
	struct batch_status *function parameters                                  \
	{                                                                         \
		struct status_query q = { klass, id, extend, NULL, want };        \
                                                                                  \
		return status_list(c, &q);                                        \
	}
#define STAT_OF(function, klass) STAT(function, klass, id, (int c, const char *id, struct attrl *want, const char *extend))
STAT_OF(pbs_statjob, "job")
STAT_OF(pbs_statque, "queue")
STAT_OF(pbs_statvnode, "node")
STAT_OF(pbs_statrsc, "resource")
STAT_OF(pbs_stathook, "hook")
STAT(pbs_statserver, "server", NULL, (int c, struct attrl *want, const char *extend))
STAT(pbs_statsched, "sched", NULL, (int c, struct attrl *want, const char *extend))

/* A server whose modules have no reservations does not know the class. */
struct batch_status *pbs_statresv(int c, const char *id, struct attrl *want, const char *extend)
{
	struct status_query q = { "resv", id, extend, NULL, want };
	struct batch_status *list = status_list(c, &q);

	if (list == NULL && pbs_errno == PBSE_IVALREQ && connection_find(c) != NULL)
		connection_fail_code(connection_find(c), PBSE_NOSUP);
	return list;
}

struct batch_status *pbs_selstat(int c, struct attropl *select, struct attrl *want,
				 const char *extend)
{
	struct status_query q = { "job", NULL, extend, select, want };

	if (verify(c, VERIFY_SELECT, select) != 0)
		return NULL;
	return status_list(c, &q);
}

struct each {
	int (*each)(struct batch_status *one, void *arg);
	void *arg;
	int said;
};

static int show_and_free(struct batch_status *one, void *arg)
{
	struct each *e = arg;

	e->said = e->each(one, e->arg);
	pbs_statfree(one);
	return e->said != 0;
}

int pbs_stat_each(int c, const char *klass, const char *id, struct attropl *select,
		  struct attrl *want, const char *extend,
		  int (*each)(struct batch_status *one, void *arg), void *arg)
{
	struct status_query q = { klass, id, extend, select, want };
	struct each e = { each, arg, 0 };
	int ret;

	if (klass == NULL || each == NULL)
		return connection_fail_code(connection_find(c), PBSE_IVALREQ);
	ret = select == NULL ? 0 : verify(c, VERIFY_SELECT, select);
	if (ret == 0)
		ret = status_run(c, &q, show_and_free, &e);
	return ret != 0 ? ret : e.said;
}
