/* SPDX-License-Identifier: Apache-2.0
 *
 * fuzz_client.c - whatever a server answers, a call of the library ends with a result or an error.
 *
 * The first byte chooses the call, the rest is the body of a PART and of the REPLY; both wait in the
 * socket before the call is made. The first request of a connection has correlation id 1.
 */
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "connection.h"
#include "frame.h"
#include "pbs_ifl.h"

#define ANSWER_MAX 16384u /* fits a socket's buffer, so that nothing blocks */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void texts_free(char **texts)
{
	for (size_t i = 0; texts != NULL && texts[i] != NULL; i++)
		free(texts[i]);
	free(texts);
}

static void signal_seen(int number) { (void)number; }

static void signal_each_ms(int ms)
{
	const struct sigaction act = { .sa_handler = signal_seen };
	const struct itimerval t = { .it_interval.tv_usec = 1000 * ms, .it_value.tv_usec = 1000 * ms };

	sigaction(SIGALRM, &act, NULL);
	setitimer(ITIMER_REAL, &t, NULL);
}

static void make_call(int c, unsigned which)
{
	char id[] = "1", *ids[] = { id }, *text = NULL;
	struct batch_status *list = NULL;
	int status;

	switch (which % 8) {
	case 0:
		list = pbs_statjob(c, "1", NULL, NULL);
		break;
	case 1:
		list = pbs_stathost(c, NULL, NULL, NULL);
		break;
	case 2:
		texts_free(pbs_selectjob(c, NULL, NULL));
		break;
	case 3:
		pbs_delstatfree(pbs_deljoblist(c, ids, 1, NULL));
		break;
	case 4:
		text = pbs_submit(c, NULL, NULL, NULL, NULL);
		break;
	case 5: /* it waits on for a server that comes back, until a signal */
		signal_each_ms(1);
		pbs_waitjob(c, "1", &status, &text);
		signal_each_ms(0);
		break;
	case 6:
		texts_free(pbs_admin(c, "check", NULL, NULL));
		break;
	default:
		text = pbs_locjob(c, "1", NULL);
		break;
	}
	for (const struct batch_status *b = list; b != NULL; b = b->next)
		for (const struct attrl *a = b->attribs; a != NULL; a = a->next)
			if (a->name == NULL || (a->value != NULL && strlen(a->value) > ANSWER_MAX))
				abort();
	pbs_statfree(list);
	free(text);
}

static void put(int fd, const void *bytes, size_t len)
{
	if (len > 0 && send(fd, bytes, len, MSG_NOSIGNAL) != (ssize_t)len)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char head[WIRE_HEADER_SIZE];
	int pair[2];

	if (size == 0 || size > ANSWER_MAX)
		return 0;
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) < 0 || connection_add(pair[0], NULL) < 0)
		abort();
	for (uint16_t type = WIRE_REPLY; type <= WIRE_PART; type++) {
		frame_header(head, type == WIRE_REPLY ? WIRE_PART : WIRE_REPLY, 1,
			     (uint32_t)(size - 1));
		put(pair[1], head, sizeof(head));
		put(pair[1], data + 1, size - 1);
	}
	shutdown(pair[1], SHUT_WR);
	make_call(pair[0], data[0]);
	pbs_disconnect(pair[0]);
	close(pair[1]);
	return 0;
}
