/* SPDX-License-Identifier: Apache-2.0
 *
 * resv.c - resv stat ID | submit|drop EXTEND [NAME[.RES]=VALUE...] | confirm ID NODES: what a program of a site may ask by libpbs.
 * Prints attributes, or the reply, or the number of the error (and ends with 1). `drop` leaves without another word once it has
 * its reply. EXTEND `-` is none.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pbs_error.h"
#include "pbs_ifl.h"

enum { ATTRS_MOST = 64 };

static int failed(void)
{
	printf("error %d\n", pbs_errno);
	return 1;
}

/* `text` is cut at its signs. */
static struct attropl attr_of(char *text)
{
	char *value = strchr(text, '='), *key;

	if (value)
		*value++ = '\0';
	if ((key = strchr(text, '.')))
		*key++ = '\0';
	return (struct attropl){ .name = text, .resource = key, .value = value ? value : "", .op = SET };
}

static int show(int c, char *id)
{
	struct batch_status *found = pbs_statresv(c, id, NULL, NULL);

	if (!found)
		return failed();
	for (const struct attrl *a = found->attribs; a; a = a->next)
		printf("%s%s%s=%s\n", a->name, a->resource ? "." : "", a->resource ? a->resource : "", a->value);
	pbs_statfree(found);
	return 0;
}

static int submit(int c, char *extend, char **words, int n, bool drop)
{
	struct attropl list[ATTRS_MOST];
	char *reply;

	for (int i = 0; i < n; i++) {
		list[i] = attr_of(words[i]);
		list[i].next = i + 1 < n ? &list[i + 1] : NULL;
	}
	reply = pbs_submit_resv(c, n ? list : NULL, strcmp(extend, "-") == 0 ? NULL : extend);
	if (!reply)
		return failed();
	printf("%s\n", reply);
	free(reply);
	if (drop) {
		fflush(stdout);
		_exit(0);
	}
	return 0;
}

static int confirm(int c, char *id, char *nodes)
{
	char success[] = "PBS_RESV_CONFIRM_SUCCESS";

	return pbs_confirmresv(c, id, nodes, 0, success) ? failed() : 0;
}

int main(int argc, char **argv)
{
	int c = pbs_connect(NULL), status = 2;

	if (c <= 0 || argc < 3 || argc - 3 > ATTRS_MOST)
		return 2;
	if (strcmp(argv[1], "stat") == 0)
		status = show(c, argv[2]);
	else if (strcmp(argv[1], "confirm") == 0 && argc == 4)
		status = confirm(c, argv[2], argv[3]);
	else
		status = submit(c, argv[2], argv + 3, argc - 3, strcmp(argv[1], "drop") == 0);
	pbs_disconnect(c);
	return status;
}
