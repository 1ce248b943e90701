/* SPDX-License-Identifier: Apache-2.0
 *
 * main.c - keelson-modhost: started for a module with isolation = "process"; its socket is fd 3. It ends when the daemon
 * does.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

#include "host.h"
#include "keel/service/supervise.h"
#include "program/version_word.h"

struct host host = { .fd = KEEL_SUPERVISE_FD, .unusable = true };

static down_fn *const on[DOWN_LAST] = {
#define DOWN(name, arguments, answer) [DOWN_##name] = on_##name,
#include "talk.def"
};

/* The answer is one frame: of what the function put, or an empty one. */
static void handle(const struct message *m)
{
	struct talk_in in = { .at = m->bytes, .end = m->bytes + m->len };
	int64_t what = take_int(&in);
	struct value v[VALUES];

	if (what <= DOWN_REPLY || what >= DOWN_LAST || !take_values(&in, down_arguments[what], v))
		abort(); /* both are made from one table */
	handles_end();
	on[what](v, &in);
	handles_end();
}

void heard_all(void)
{
	struct message *m;

	line_read();
	while (!host.over && (m = line_next()) != NULL) {
		handle(m);
		free(m);
	}
}

int main(int argc, char **argv)
{
	if (version_word(argc, argv))
		return 0;
	if (argc != 2 || strncmp(argv[1], "--name=", 7) != 0) {
		fprintf(stderr, "keelson-modhost is started by keelsond, for a module with isolation = \"process\"; see "
				"keelson-modhost(8)\n");
		return 2;
	}
	host.name = host.mod.name = argv[1] + 7;
#if !defined(__SANITIZE_ADDRESS__) /* which reads its own memory so */
	prctl(PR_SET_DUMPABLE, 0); /* others of its user do not reach into it by /proc */
#endif
	if (keel_supervise_confine() < 0)
		host.refused = strerror(errno);
	loop_run();
	return 0;
}
