/* SPDX-License-Identifier: Apache-2.0
 *
 * output.c - what the tasks of a sister wrote goes into the job's output on the primary: one piece of each stream at a time.
 *
 *	sister: sister.output {stream, at, bytes} --> primary: appends it if `at` is what it has, writes down what it has
 *	        next piece from there             <-- sister.got {stream, at}; also at each new link
 *
 * What the primary has is in mom_priv/sisters/ID: run, then an offset for each host and stream.
 */
#include "sisters.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PAUSE_MS 500  /* in a line */
#define AGAIN_MS 5000 /* a piece that the primary could not write is sent again */

static char *path_of(struct keel_mod *mod, const char *id)
{
	char *path = NULL;

	return asprintf(&path, "%s/mom_priv/sisters%s%s", keel_home(mod), id ? "/" : "", id ? id : "") < 0 ? NULL : path;
}

/* ---- a sister ------------------------------------------------------------------------------------------- */
static void piece_send(struct keel_mod *mod, struct job *j, int32_t stream, const void *bytes, uint32_t len)
{
	struct stream *s = &j->hosts[j->self].streams[stream - 1];
	struct keel_out *out = message(mod, j);

	s->sent_ms = keel_now_ms(mod);
	keel_put_int(out, "stream", stream);
	keel_put_int(out, "at", s->at);
	keel_put_bytes(out, "bytes", bytes, len);
	message_send(mod, j, 0, "sister.output", out);
}

/* Up to the last end of a line, so that lines of two hosts do not mix; the rest too, when nothing has come to it for a while. */
static int64_t whole_lines(struct keel_mod *mod, struct job *j, struct stream *s, const char *piece, int64_t n)
{
	const char *last = memrchr(piece, '\n', (size_t)n);

	if (last || n == PIECE_MAX || j->sister.state == PART_ENDED) {
		s->begun = 0;
		return last ? last + 1 - piece : n;
	}
	if (s->begun != n) {
		s->begun = n;
		s->begun_ms = keel_now_ms(mod);
	}
	if (keel_now_ms(mod) - s->begun_ms < PAUSE_MS)
		return 0;
	s->begun = 0;
	return n;
}

static void stream_pump(struct keel_mod *mod, struct job *j, int32_t stream)
{
	char piece[PIECE_MAX];
	struct stream *s = &j->hosts[j->self].streams[stream - 1];
	int64_t n;

	if (!j->sister.linked || !s->known || (s->sent_ms && keel_now_ms(mod) - s->sent_ms < AGAIN_MS))
		return;
	n = keel_part_read(j->id, stream, s->at, piece, sizeof(piece));
	s->end = n <= 0;
	if (n > 0)
		n = whole_lines(mod, j, s, piece, n);
	if (n > 0)
		piece_send(mod, j, stream, piece, (uint32_t)n);
}

void output_pump(struct keel_mod *mod, struct job *j)
{
	struct stream *s = j->hosts[j->self].streams;

	stream_pump(mod, j, 1);
	stream_pump(mod, j, 2);
	if (j->sister.state == PART_ENDED && s[0].known && s[0].end && s[1].known && s[1].end)
		sister_drained(&j->sister);
}

void output_link(struct job *j)
{
	struct stream *s = j->hosts[j->self].streams;

	s[0].known = s[1].known = false;
}

void on_got(struct keel_mod *mod, struct job *j, uint32_t host, const struct keel_msg *m)
{
	int64_t stream = keel_msg_int(m, "stream", 0), at = keel_msg_int(m, "at", -1);
	struct stream *s;

	(void)host;
	if (stream < 1 || stream > 2 || at < 0)
		return;
	s = &j->hosts[j->self].streams[stream - 1];
	s->at = at;
	s->sent_ms = 0;
	s->known = true;
	output_pump(mod, j);
}

/* ---- the primary ------------------------------------------------------------------------------------------ */
static off_t place(uint32_t host, int64_t stream)
{
	return (off_t)(8 + 8 * (2 * (int64_t)host + stream - 1));
}

static bool record_open(struct keel_mod *mod, struct job *j)
{
	char *path = j->record < 0 ? path_of(mod, j->id) : NULL;

	if (path)
		j->record = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (j->record >= 0 && path && pwrite(j->record, &j->run, 8, 0) != 8) {
		close(j->record);
		j->record = -1;
	}
	free(path);
	return j->record >= 0;
}

static void got_send(struct keel_mod *mod, struct job *j, uint32_t host, int64_t stream)
{
	struct keel_out *out = message(mod, j);

	keel_put_int(out, "stream", stream);
	keel_put_int(out, "at", j->hosts[host].streams[stream - 1].at);
	message_send(mod, j, host, "sister.got", out);
}

void output_say(struct keel_mod *mod, struct job *j, uint32_t host)
{
	got_send(mod, j, host, 1);
	got_send(mod, j, host, 2);
}

void on_output(struct keel_mod *mod, struct job *j, uint32_t host, const struct keel_msg *m)
{
	int64_t stream = keel_msg_int(m, "stream", 0), n;
	struct stream *s;
	uint32_t len = 0;
	const void *bytes = keel_msg_bytes(m, "bytes", &len);

	if (stream < 1 || stream > 2 || !bytes || !len || len > PIECE_MAX)
		return;
	s = &j->hosts[host].streams[stream - 1];
	if (keel_msg_int(m, "at", -1) == s->at) {
		if (!record_open(mod, j))
			return; /* it comes again */
		n = keel_part_write(j->id, (int32_t)stream, bytes, len);
		if (n <= 0)
			return;
		s->at += n;
		if (pwrite(j->record, &s->at, 8, place(host, stream)) != 8)
			keel_log(mod, KEEL_LOG_ERROR, "Job", j->id, "%s/mom_priv/sisters cannot be written: output of other hosts may come twice",
				 keel_home(mod));
	}
	got_send(mod, j, host, stream);
}

void output_recall(struct keel_mod *mod, struct job *j)
{
	char *path = path_of(mod, j->id);
	int fd = path ? open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW) : -1;
	int64_t run = -1, at;

	free(path);
	if (fd < 0)
		return;
	if (pread(fd, &run, 8, 0) != 8 || run != j->run) {
		close(fd);
		return;
	}
	j->record = fd;
	for (uint32_t i = 1; i < j->n; i++)
		for (int64_t stream = 1; stream <= 2; stream++)
			if (pread(fd, &at, 8, place(i, stream)) == 8 && at >= 0)
				j->hosts[i].streams[stream - 1].at = at;
}

void output_forget(struct keel_mod *mod, struct job *j)
{
	const struct state *st = mod->state;
	char *path = j->self == 0 && !st->stopping ? path_of(mod, j->id) : NULL;

	if (path)
		unlink(path);
	free(path);
}

/* Records of jobs that are not here any more. */
void output_sweep(struct keel_mod *mod)
{
	const struct state *st = mod->state;
	char *path = path_of(mod, NULL);
	DIR *dir = NULL;
	struct job *j;

	if (path && (mkdir(path, 0700) == 0 || errno == EEXIST))
		dir = opendir(path);
	for (const struct dirent *d; dir && (d = readdir(dir));) {
		HASH_FIND_STR(st->jobs, d->d_name, j);
		if (!j && d->d_name[0] != '.')
			unlinkat(dirfd(dir), d->d_name, 0);
	}
	if (dir)
		closedir(dir);
	free(path);
}
