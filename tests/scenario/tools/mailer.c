/* SPDX-License-Identifier: Apache-2.0
 *
 * mailer.c - what stories configure as sendmail: it puts each mail into a file beside itself.
 *
 *	DIR/mailer ARGUMENTS <mail
 *
 * The file is DIR/mail.PID, complete when it has that name: a line with the arguments, then the mail. A
 * file DIR/hang makes it wait for ever, a file DIR/fail makes it exit 75.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static char dir[3000];

static int there(const char *name)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return access(path, F_OK) == 0;
}

int main(int argc, char **argv)
{
	char path[4096], partial[4096], bytes[4096];
	char *slash = strrchr(argv[0], '/');
	size_t n;
	FILE *f;

	snprintf(dir, sizeof(dir), "%.*s", slash ? (int)(slash - argv[0]) : 0, argv[0]);
	if (there("hang"))
		for (;;)
			pause();
	if (there("fail"))
		return 75;
	snprintf(path, sizeof(path), "%s/mail.%d", dir, (int)getpid());
	snprintf(partial, sizeof(partial), "%s/part.%d", dir, (int)getpid());
	f = fopen(partial, "w");
	if (!f)
		return 73;
	for (int i = 1; i < argc; i++)
		fprintf(f, "%s%s", i > 1 ? " " : "", argv[i]);
	fputc('\n', f);
	while ((n = fread(bytes, 1, sizeof(bytes), stdin)) > 0)
		fwrite(bytes, 1, n, f);
	return fclose(f) == 0 && rename(partial, path) == 0 ? 0 : 74;
}
