/* SPDX-License-Identifier: Apache-2.0
 *
 * task.c - what the commands that use tasks of a job have in common: texts of errors, and waiting for events or a signal.
 */
#include "task.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <time.h>

#define AGAIN_NS 100000000L /* a daemon that restarts is tried again */
#define ARRIVE_SECONDS 5

const char *task_error(int error)
{
	static const char *const texts[] = {
		[TM_ESYSTEM - TM_ESYSTEM] = "system error - MOM cannot be contacted",
		[TM_ENOEVENT - TM_ESYSTEM] = "no event",
		[TM_ENOTCONNECTED - TM_ESYSTEM] = "not connected",
		[TM_EUNKNOWNCMD - TM_ESYSTEM] = "unknown command",
		[TM_ENOTIMPLEMENTED - TM_ESYSTEM] = "not implemented/supported",
		[TM_EBADENVIRONMENT - TM_ESYSTEM] = "bad environment",
		[TM_ENOTFOUND - TM_ESYSTEM] = "no matching job found",
		[TM_BADINIT - TM_ESYSTEM] = "bad initialization",
		[TM_ESESSION - TM_ESYSTEM] = "session already attached",
		[TM_EUSER - TM_ESYSTEM] = "user not permitted to attach",
		[TM_EOWNER - TM_ESYSTEM] = "process owner does not match job",
		[TM_ENOPROC - TM_ESYSTEM] = "process does not exist",
		[TM_EHOOK - TM_ESYSTEM] = "a hook has rejected the task",
	};
	static char text[80];
	const char *known = error >= TM_ESYSTEM && error <= TM_EHOOK ? texts[error - TM_ESYSTEM] : "error";

	snprintf(text, sizeof(text), "%s (%d)", known, error);
	return text;
}

static volatile sig_atomic_t caught;
static sigset_t open_mask; /* of before: in force while task_poll() waits, and only then */

static void on_signal(int signal)
{
	caught = signal;
}

void task_signals_catch(void)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP };
	struct sigaction action = { .sa_handler = on_signal };
	sigset_t block;

	sigemptyset(&action.sa_mask);
	sigemptyset(&block);
	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++) {
		sigaction(signals[i], &action, NULL);
		sigaddset(&block, signals[i]);
	}
	sigprocmask(SIG_BLOCK, &block, &open_mask);
}

int task_poll(tm_event_t *ret_event, int *ret_error, int *ret_signal)
{
	for (;;) {
		static const struct timespec again = { .tv_nsec = AGAIN_NS };
		int ret = tm_poll(TM_NULL_EVENT, ret_event, 0, ret_error);
		struct pollfd poller = { .fd = tm_fd(), .events = POLLIN };

		if (ret != TM_SUCCESS || *ret_event != TM_NULL_EVENT)
			return ret;
		ppoll(&poller, 1, poller.fd < 0 ? &again : NULL, &open_mask);
		if (caught != 0) {
			*ret_signal = caught;
			caught = 0;
			return TM_ENOEVENT;
		}
	}
}

void task_kill_all(const tm_task_id *tasks, int n, int signal)
{
	const time_t until = time(NULL) + ARRIVE_SECONDS;
	int open = 0, error;
	tm_event_t last = TM_NULL_EVENT, event;

	for (int i = 0; i < n; i++)
		if (tasks[i] != TM_NULL_TASK && tm_kill(tasks[i], signal, &last) == TM_SUCCESS)
			open++;
	/* Events are answered in order, but for those that wait: the last one says that all have arrived. */
	while (open > 0 && time(NULL) < until && tm_poll(TM_NULL_EVENT, &event, 0, &error) == TM_SUCCESS) {
		struct pollfd poller = { .fd = tm_fd(), .events = POLLIN };

		if (event == last)
			break;
		if (event == TM_NULL_EVENT)
			poll(&poller, 1, 100);
	}
}
