/* SPDX-License-Identifier: Apache-2.0
 *
 * handover.c - descriptors from one image of the daemon to the next.
 */
#include "main/inside.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util/text.h"

#define FIRST 3 /* LISTEN_FDS begin here */
#define ABOVE 64 /* where no other image puts them */

extern char **environ;

void handed_take(struct handed *ret)
{
	const char *pid = getenv("LISTEN_PID"), *count = getenv("LISTEN_FDS"), *names = getenv("LISTEN_FDNAMES");
	unsigned long n = pid != NULL && count != NULL && strtol(pid, NULL, 10) == getpid() ? strtoul(count, NULL, 10) : 0;

	*ret = (struct handed){ .n = 0 };
	for (unsigned long i = 0; i < n && i < HANDOVER_FDS; i++) {
		int len = names != NULL ? (int)strcspn(names, ":") : 0;
		int fd = fcntl(FIRST + (int)i, F_DUPFD_CLOEXEC, ABOVE);

		close(FIRST + (int)i);
		if (fd >= 0) {
			snprintf(ret->at[ret->n].name, sizeof(ret->at[0].name), "%.*s", len > 0 ? len : 6,
				 len > 0 ? names : HANDED_CLIENT);
			ret->at[ret->n++].fd = fd;
		}
		names = names != NULL && names[len] == ':' ? names + len + 1 : NULL;
	}
	unsetenv("LISTEN_PID");
	unsetenv("LISTEN_FDS");
	unsetenv("LISTEN_FDNAMES");
}

int handed_find(const struct handed *h, const char *name)
{
	for (uint32_t i = 0; i < h->n; i++)
		if (h->at[i].fd >= 0 && strcmp(h->at[i].name, name) == 0)
			return h->at[i].fd;
	return -1;
}

int handed_use(struct handed *h, const char *name)
{
	int fd = handed_find(h, name);

	for (uint32_t i = 0; i < h->n; i++)
		if (h->at[i].fd == fd)
			h->at[i].fd = -1;
	return fd;
}

void handed_close(struct handed *h)
{
	for (uint32_t i = 0; i < h->n; i++)
		if (h->at[i].fd >= 0)
			close(h->at[i].fd);
	h->n = 0;
}

void handed_add(struct handed *h, const char *name, int fd)
{
	if (fd < 0 || h->n == HANDOVER_FDS)
		return;
	snprintf(h->at[h->n].name, sizeof(h->at[0].name), "%s", name);
	h->at[h->n++].fd = fd;
}

char **handed_env(const struct handed *h, const char *notify)
{
	char names[HANDOVER_FDS * 33] = "";
	size_t n = 0, at = 0;
	char **env;

	while (environ[n] != NULL)
		n++;
	for (uint32_t i = 0; i < h->n; i++)
		snprintf(names + strlen(names), sizeof(names) - strlen(names), "%s%s", i > 0 ? ":" : "", h->at[i].name);
	env = calloc(n + 5, sizeof(*env));
	for (size_t i = 0; env != NULL && i < n; i++)
		if (strncmp(environ[i], "LISTEN_", 7) != 0 && strncmp(environ[i], "NOTIFY_SOCKET=", 14) != 0)
			env[at++] = environ[i];
	if (env == NULL)
		return NULL;
	env[at++] = text_format("LISTEN_PID=%ld", (long)getpid());
	env[at++] = text_format("LISTEN_FDS=%u", h->n);
	env[at++] = text_format("LISTEN_FDNAMES=%s", names);
	if (notify != NULL)
		env[at++] = text_format("NOTIFY_SOCKET=%s", notify);
	return env;
}

void handed_pass(const struct handed *h)
{
	int high[HANDOVER_FDS];

	for (uint32_t i = 0; i < h->n; i++) /* one of them may be where another goes */
		high[i] = fcntl(h->at[i].fd, F_DUPFD_CLOEXEC, ABOVE);
	for (uint32_t i = 0; i < h->n; i++)
		dup2(high[i], FIRST + (int)i);
}
