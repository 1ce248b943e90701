/* SPDX-License-Identifier: Apache-2.0
 *
 * pbs_rdel.c - delete reservations.
 */
#include <unistd.h>

#include "cmd.h"
#include "pbs_ifl.h"
#include "resv.h"

static const struct cmd pbs_rdel = {
	.name = "pbs_rdel",
	.usage = "usage:\tpbs_rdel [-q dest] resv_identifier...\n"
		 "      \tpbs_rdel --version\n",
	.usage_exit = 2,
};

static int delete_one(struct cmd_link *link, const char *text)
{
	struct operand resv;

	if (operand_resv(text, &resv) < 0)
		return resv_bad_id(pbs_rdel.name, text, 1);
	if (cmd_link_open(&pbs_rdel, link, resv.server) < 0)
		return cmd_unreached_status(&pbs_rdel);
	return pbs_delresv(link->c, resv.id, NULL) == 0 ? 0 : cmd_complain(&pbs_rdel, link->c, resv.id);
}

int main(int argc, char **argv)
{
	struct cmd_link link = { 0 };
	int letter, one, status = 0;
	bool bad = false;

	if (cmd_begin(&pbs_rdel, argc, argv))
		return 0;
	while ((letter = getopt(argc, argv, "q:")) != -1)
		bad |= letter != 'q'; /* a destination changes nothing */
	if (bad || optind >= argc)
		return cmd_usage(&pbs_rdel);
	for (; optind < argc; optind++) {
		one = delete_one(&link, argv[optind]);
		if (one != 0)
			status = one;
	}
	cmd_link_close(&link);
	return status;
}
