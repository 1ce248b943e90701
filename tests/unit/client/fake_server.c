/* SPDX-License-Identifier: Apache-2.0
 *
 * fake_server.c - a server for tests: a thread behind a Unix socket with a reply of the test.
 */
#include "fake_server.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "pbs_ifl.h"

static void die(const char *what)
{
	perror(what);
	exit(99);
}

static void *thread_main(void *arg)
{
	struct fake_server *f = arg;
	int fd = accept(f->listener, NULL, NULL);

	if (fd < 0)
		return NULL; /* fake_stop() before anybody came */
	frame_reader_init(&f->reader, WIRE_BODY_MAX);
	f->serve(f, fd);
	frame_reader_fini(&f->reader);
	close(fd);
	return NULL;
}

static void write_conf(struct fake_server *f)
{
	char path[128];
	FILE *conf;

	snprintf(path, sizeof(path), "%s/pbs.conf", f->dir);
	conf = fopen(path, "w");
	if (conf == NULL)
		die(path);
	fprintf(conf, "# for tests\nPBS_SERVER=testserver\nPBS_HOME=%s\n", f->dir);
	fprintf(conf, "PBS_SERVER_SOCKET=%s/sock\n", f->dir);
	fclose(conf);
	setenv("PBS_CONF_FILE", path, 1);
	pbs_loadconf(1);
}

void fake_start(struct fake_server *f, void (*serve)(struct fake_server *f, int fd), void *arg)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };

	*f = (struct fake_server){ .serve = serve, .arg = arg };
	snprintf(f->dir, sizeof(f->dir), "/tmp/keelson-test-XXXXXX");
	if (mkdtemp(f->dir) == NULL)
		die("mkdtemp");
	snprintf(address.sun_path, sizeof(address.sun_path), "%s/sock", f->dir);
	f->listener = socket(AF_UNIX, SOCK_STREAM, 0);
	if (bind(f->listener, (struct sockaddr *)&address, sizeof(address)) < 0 ||
	    listen(f->listener, 4) < 0)
		die(address.sun_path);
	write_conf(f);
	buf_init(&f->body);
	if (pthread_create(&f->thread, NULL, thread_main, f) != 0)
		die("pthread_create");
}

void fake_stop(struct fake_server *f)
{
	char path[128];

	shutdown(f->listener, SHUT_RDWR);
	pthread_join(f->thread, NULL);
	close(f->listener);
	buf_fini(&f->body);
	snprintf(path, sizeof(path), "%s/pbs.conf", f->dir);
	unlink(path);
	snprintf(path, sizeof(path), "%s/sock", f->dir);
	unlink(path);
	rmdir(f->dir);
}

int fake_request(struct fake_server *f, int fd, struct pack *ret)
{
	struct frame frame;
	char *room;
	size_t len;
	ssize_t n;
	int got;

	while ((got = frame_next(&f->reader, &frame)) == 0) {
		if (frame_reader_room(&f->reader, 65536, &room, &len) < 0)
			die("room");
		n = recv(fd, room, len, 0);
		if (n <= 0)
			return -1;
		frame_reader_added(&f->reader, (size_t)n);
	}
	if (got < 0 || pack_open(ret, frame.body, frame.len) < 0)
		die("bad request");
	f->corr = frame.corr;
	return 0;
}

void fake_write(int fd, const void *bytes, size_t len)
{
	const char *at = bytes;

	while (len > 0) {
		ssize_t n = send(fd, at, len, MSG_NOSIGNAL);

		if (n <= 0)
			return;
		at += n;
		len -= (size_t)n;
	}
}

void fake_begin(struct fake_server *f)
{
	buf_reset(&f->body);
}

void fake_send(struct fake_server *f, int fd, uint16_t type)
{
	char head[WIRE_HEADER_SIZE];

	frame_header(head, type, f->corr, (uint32_t)f->body.len);
	fake_write(fd, head, sizeof(head));
	fake_write(fd, f->body.data, f->body.len);
}

void fake_reply(struct fake_server *f, int fd, int code, const char *text, const char *key,
		const char *value)
{
	fake_begin(f);
	pack_map(&f->body, 1u + (text != NULL) + (key != NULL));
	pack_key_int(&f->body, "code", code);
	if (text != NULL)
		pack_key_str(&f->body, "text", text);
	if (key != NULL)
		pack_key_str(&f->body, key, value);
	fake_send(f, fd, WIRE_REPLY);
}
