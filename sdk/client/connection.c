/* SPDX-License-Identifier: Apache-2.0
 *
 * connection.c - open connections, found by their handle.
 *
 * The list is behind a lock; an entry is used by one thread at a time, as the interface demands.
 */
#include "connection.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "error_text.h"
#include "locate.h"
#include "pbs_error.h"
#include "refused.h"
#include "thread.h"

static struct {
	pthread_mutex_t lock;
	struct connection *first; /* owned */
} table = { .lock = PTHREAD_MUTEX_INITIALIZER };

int connection_add(int fd, const char *server)
{
	struct connection *conn = calloc(1, sizeof(*conn));

	if (conn == NULL || (server != NULL && (conn->server = strdup(server)) == NULL)) {
		free(conn);
		return -ENOMEM;
	}
	conn->fd = fd;
	frame_reader_init(&conn->reader, WIRE_BODY_MAX);
	pthread_mutex_lock(&table.lock);
	conn->next = table.first;
	table.first = conn;
	pthread_mutex_unlock(&table.lock);
	return 0;
}

struct connection *connection_find(int c)
{
	struct connection *conn;

	pthread_mutex_lock(&table.lock);
	for (conn = table.first; conn != NULL && conn->fd != c; conn = conn->next)
		;
	pthread_mutex_unlock(&table.lock);
	return conn;
}

/* NULL: no such handle, or a callback is running on it. */
static struct connection *unlink_entry(int c)
{
	struct connection **at, *conn;

	pthread_mutex_lock(&table.lock);
	for (at = &table.first; *at != NULL && (*at)->fd != c; at = &(*at)->next)
		;
	conn = *at != NULL && (*at)->in_callback ? NULL : *at;
	if (conn != NULL)
		*at = conn->next;
	pthread_mutex_unlock(&table.lock);
	return conn;
}

void connection_clear(struct connection *conn)
{
	free(conn->text);
	conn->text = NULL;
	refused_free(conn->refused);
	conn->refused = NULL;
	pbs_errno = 0;
}

int connection_fail(struct connection *conn, int code, const char *text)
{
	if (conn != NULL) {
		free(conn->text);
		conn->text = text == NULL ? NULL : strdup(text);
	}
	pbs_errno = code;
	return code;
}

int connection_fail_code(struct connection *conn, int code)
{
	return connection_fail(conn, code, code <= PBSE_ ? strerror(code) : error_text(code));
}

/* Returns 0 and the servers to try for `name`, in order: one, or a fail-over pair; the caller frees them. */
static int candidates(const char *name, char *ret_names[2])
{
	ret_names[0] = ret_names[1] = NULL;
	if (name == NULL || *name == '\0')
		return locate_defaults(ret_names);
	ret_names[0] = strdup(name);
	return ret_names[0] == NULL ? ENOMEM : 0;
}

/* Returns 0 or a PBSE number, with errno set for details. */
static int server_open(const char *server, int *ret_fd)
{
	char *names[2];
	int ret, saved;

	thread_set_text("%s", "");
	ret = candidates(server, names);
	for (int i = 0; i < 2 && names[i] != NULL && (i == 0 || ret != 0); i++) {
		thread_set_server(names[i]);
		thread_set_text("%s", "");
		ret = locate_open(names[i], ret_fd);
	}
	saved = errno;
	free(names[0]);
	free(names[1]);
	errno = saved;
	return ret;
}

int connection_reopen(struct connection *conn)
{
	int fd = -1, ret = server_open(conn->server, &fd);

	if (ret != 0)
		return ret;
	if (dup3(fd, conn->fd, O_CLOEXEC) < 0)
		ret = PBSE_SYSTEM;
	close(fd);
	if (ret != 0)
		return ret;
	frame_reader_fini(&conn->reader);
	frame_reader_init(&conn->reader, WIRE_BODY_MAX);
	conn->lost = conn->left = conn->stopped = false;
	return 0;
}

int pbs_connect_extend(const char *server, const char *extend)
{
	int fd = -1, ret, saved;

	(void)extend;
	pbs_errno = 0;
	ret = server_open(server, &fd);
	saved = errno;
	if (ret == 0 && connection_add(fd, server) < 0) {
		close(fd);
		ret = PBSE_SYSTEM;
		saved = ENOMEM;
	}
	errno = saved;
	pbs_errno = ret;
	return ret == 0 ? fd : -1;
}

int pbs_connect(const char *server)
{
	return pbs_connect_extend(server, NULL);
}

int pbs_disconnect(int c)
{
	struct connection *conn = unlink_entry(c);

	if (conn == NULL) {
		pbs_errno = PBSE_IVALREQ;
		return -1;
	}
	close(conn->fd);
	frame_reader_fini(&conn->reader);
	refused_free(conn->refused);
	free(conn->text);
	free(conn->server);
	free(conn);
	return 0;
}

char *pbs_default(void)
{
	char *names[2], *kept = NULL;

	pbs_errno = candidates(NULL, names);
	if (pbs_errno == 0)
		kept = thread_keep_default(names[0]);
	free(names[0]);
	free(names[1]);
	return kept;
}

char *pbs_geterrmsg(int c)
{
	struct connection *conn = connection_find(c);

	if (c < 0 && *thread_text() != '\0')
		return thread_text();
	return conn == NULL ? NULL : conn->text;
}

struct ecl_attribute_errors *pbs_get_attributes_in_error(int c)
{
	struct connection *conn = connection_find(c);

	return conn == NULL ? NULL : conn->refused;
}
