/* SPDX-License-Identifier: Apache-2.0
 *
 * thread.c - state per thread: the last error, the last server's name, why it was not reached.
 */
#include <stdarg.h>
#include <stdio.h>

#include "pbs_ifl.h"
#include "thread.h"

#define NAME_SIZE (PBS_MAXSERVERNAME + PBS_MAXPORTNUM + 2)

static _Thread_local int last_error;
static _Thread_local char last_server[NAME_SIZE];
static _Thread_local char default_server[NAME_SIZE];
static _Thread_local char text[512];

int *__pbs_errno_location(void)
{
	return &last_error;
}

char *__pbs_server_location(void)
{
	return last_server;
}

void thread_set_server(const char *name)
{
	snprintf(last_server, sizeof(last_server), "%s", name);
}

char *thread_keep_default(const char *name)
{
	snprintf(default_server, sizeof(default_server), "%s", name);
	return default_server;
}

void thread_set_text(const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
}

char *thread_text(void)
{
	return text;
}
