/* SPDX-License-Identifier: Apache-2.0
 *
 * signals.c - names of signals as qsig takes them: with or without SIG, or any number.
 */
#include "executor.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

static const struct {
	const char *name;
	int number;
} names[] = {
	{ "NULL", 0 },         { "HUP", SIGHUP },   { "INT", SIGINT },   { "QUIT", SIGQUIT },
	{ "ILL", SIGILL },     { "TRAP", SIGTRAP }, { "ABRT", SIGABRT }, { "IOT", SIGABRT },
	{ "BUS", SIGBUS },     { "FPE", SIGFPE },   { "KILL", SIGKILL }, { "USR1", SIGUSR1 },
	{ "SEGV", SIGSEGV },   { "USR2", SIGUSR2 }, { "PIPE", SIGPIPE }, { "ALRM", SIGALRM },
	{ "TERM", SIGTERM },   { "CHLD", SIGCHLD }, { "CONT", SIGCONT }, { "STOP", SIGSTOP },
	{ "TSTP", SIGTSTP },   { "TTIN", SIGTTIN }, { "TTOU", SIGTTOU }, { "URG", SIGURG },
	{ "XCPU", SIGXCPU },   { "XFSZ", SIGXFSZ }, { "VTALRM", SIGVTALRM }, { "PROF", SIGPROF },
	{ "WINCH", SIGWINCH }, { "IO", SIGIO },     { "PWR", SIGPWR },   { "SYS", SIGSYS },
};

int signal_number(const char *name)
{
	if (*name && strspn(name, "0123456789") == strlen(name))
		return strlen(name) < 9 ? atoi(name) : 999999999;
	if (strncmp(name, "SIG", 3) == 0)
		name += 3;
	for (size_t i = 0; i < KEEL_COUNT(names); i++)
		if (strcmp(names[i].name, name) == 0)
			return names[i].number;
	return -1;
}
