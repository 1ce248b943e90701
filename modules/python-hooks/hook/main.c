/* SPDX-License-Identifier: Apache-2.0
 *
 * keelson-hook - for those who write hooks; `keelson hook ...` is the same. Without a server: run a script with a recorded event
 * (run), all cases of a site's own scripts (test). What is no verb here is a question to the server.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "hook_cmd.h"
#include "program/version_word.h"

static const char usage[] =
	"usage: keelson hook list                                  the hooks of this server\n"
	"       keelson hook times [hook]                          what their scripts have cost\n"
	"       keelson hook run NAME | FILE.py --event FILE       run a script with a recorded event, here\n"
	"                        [--config FILE] [--tables FILE]\n"
	"       keelson hook test [--tables FILE] DIR              run the cases of DIR, here\n"
	"       keelson hook stubs [--tables FILE]                 pbs.pyi of this server, for editors\n"
	"       keelson hook tables                                what scripts know of this server, for --tables\n";

static const struct {
	const char *name;
	int (*go)(int argc, char **argv);
} verbs[] = { { "run", run_verb }, { "test", test_verb }, { "stubs", stubs_verb } };

/* A stream that is closed stays so for what is written there, and is no number for a pipe. */
static void streams_keep(void)
{
	int fd;

	while ((fd = open("/dev/null", O_RDONLY)) >= 0 && fd <= STDERR_FILENO)
		;
	if (fd >= 0)
		close(fd);
}

/* What could not be written was not said. */
static int written(int status)
{
	if (fflush(stdout) == 0 && !ferror(stdout))
		return status;
	complain("cannot write the answer");
	return status == 0 ? 1 : status;
}

int main(int argc, char **argv)
{
	if (version_word(argc, argv))
		return 0;
	streams_keep();
	if (argc < 2 || strcmp(argv[1], "--help") == 0) {
		fputs(usage, argc < 2 ? stderr : stdout);
		return written(argc < 2 ? EXIT_FAILED : 0);
	}
	for (size_t i = 0; i < sizeof(verbs) / sizeof(verbs[0]); i++)
		if (strcmp(verbs[i].name, argv[1]) == 0)
			return written(verbs[i].go(argc - 1, argv + 1));
	return written(ask_print(argv + 1));
}
