/* SPDX-License-Identifier: Apache-2.0
 *
 * bench_largest.c - how long the loop stands still while the largest requests come.
 *
 *   bench_largest PID SOCKET [KINDS]
 *   bench_largest PID SOCKET --seconds N		sends no requests: what else goes on is measured
 *
 * For each kind of request sixteen connections send the largest one of it at once; meanwhile another one sends a PING
 * each millisecond. Prints the most that the server's loop, thread PID, computed until a PING was answered, in
 * milliseconds; on stderr that of each kind and the wait by the clock, with the codes of the answers.
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "wire/frame.h"
#include "wire/pack.h"

#define CLIENTS 16
#define MANY 100000 /* jobs */
#define MOST (1u << 20) /* kernel/request/limits.def: request */
#define CHUNKS 16384u
#define SCRIPT (16u << 20)

static const char *socket_path;
static atomic_int open_requests;

/* ---- the largest request of each kind ------------------------------------------------------------------- */

static void key(struct buf *b, const char *name)
{
	pack_str(b, name);
}

/* A text of `n` bytes, the words one behind the other. */
static void text(struct buf *b, size_t n, const char *word)
{
	size_t len = strlen(word), whole = n / len * len;
	char *bytes = malloc(n + len + 1);

	for (size_t i = 0; i < n; i += len)
		memcpy(bytes + i, word, len);
	if (whole > 0)
		bytes[whole - 1] = '1'; /* not the separator */
	pack_text(b, bytes, whole);
	free(bytes);
}

static void ids(struct buf *b, size_t n, bool numbered)
{
	char id[32] = "1";

	pack_array(b, n);
	for (size_t i = 0; i < n; i++) {
		if (numbered)
			snprintf(id, sizeof(id), "%zu", i);
		pack_str(b, id);
	}
}

static void row(struct buf *b, const char *name, const char *resource)
{
	pack_array(b, 4);
	pack_str(b, name);
	pack_str(b, resource);
}

static void attrs(struct buf *b, size_t n, const char *name, const char *resource, const char *value)
{
	pack_array(b, n);
	for (size_t i = 0; i < n; i++) {
		row(b, name, resource);
		pack_str(b, value);
		pack_number(b, 0);
	}
}

static void one_of(struct buf *b, size_t n, const char *name, const char *resource, const char *word)
{
	pack_array(b, 1);
	row(b, name, resource);
	text(b, n, word);
	pack_number(b, 0);
}

/* What one attribute of one long value needs around it. */
static void submit_head(struct buf *b) { key(b, "attrs"); }
static void status_head(struct buf *b) { key(b, "class"), key(b, "job"), key(b, "select"); }
static void alter_head(struct buf *b) { key(b, "id"), key(b, "1"), key(b, "attrs"); }
static void manage_head(struct buf *b)
{
	key(b, "cmd"), pack_number(b, 2), key(b, "obj"), pack_number(b, 0);
	key(b, "name"), key(b, ""), key(b, "attrs");
}

static void delete_same(struct buf *b)
{
	key(b, "ids");
	ids(b, (MOST - 400) / (PACK_VALUE_COST + 2), false);
}
static void delete_all(struct buf *b)
{
	key(b, "ids");
	ids(b, (MOST - 400) / (PACK_VALUE_COST + 8) < MANY ? (MOST - 100) / (PACK_VALUE_COST + 8) : MANY, true);
}
static void delete_unknown(struct buf *b)
{
	char id[32];
	size_t n = (MOST - 400) / (PACK_VALUE_COST + 9);

	key(b, "ids");
	pack_array(b, n);
	for (size_t i = 0; i < n; i++) {
		snprintf(id, sizeof(id), "%zu", 10000000 + i);
		pack_str(b, id);
	}
}
static void nothing(struct buf *b)
{
	size_t n = (MOST - 400) / (PACK_VALUE_COST + 1);

	key(b, "ids");
	pack_array(b, n);
	for (size_t i = 0; i < n; i++)
		pack_nil(b);
}
/* More than is served, as long as a frame may be. */
static void too_long(struct buf *b)
{
	size_t n = (24u << 20);

	key(b, "ids");
	pack_array(b, n);
	for (size_t i = 0; i < n; i++)
		pack_nil(b);
}
static void status_ids(struct buf *b)
{
	key(b, "class"), key(b, "job"), key(b, "id"), text(b, MOST - 400, "7,");
}
static void status_want(struct buf *b)
{
	size_t n = (MOST - 400) / (2 * PACK_VALUE_COST + 7 + PACK_VALUE_COST);

	key(b, "class"), key(b, "job"), key(b, "want");
	pack_array(b, n);
	for (size_t i = 0; i < n; i++) {
		pack_array(b, 1);
		pack_str(b, "queue");
	}
}
static void status_select(struct buf *b)
{
	status_head(b);
	attrs(b, (MOST - 400) / (5 * PACK_VALUE_COST + 11), "queue", NULL, "a");
}
static void select_many(struct buf *b)
{
	key(b, "select");
	attrs(b, (MOST - 400) / (5 * PACK_VALUE_COST + 11), "queue", NULL, "a");
}
static void submit_script(struct buf *b)
{
	char *script = malloc(SCRIPT);

	memset(script, '#', SCRIPT);
	key(b, "script");
	pack_bin(b, script, SCRIPT);
	key(b, "attrs");
	attrs(b, 1, "Job_Name", NULL, "large");
	free(script);
}
static void submit_many(struct buf *b)
{
	key(b, "attrs");
	attrs(b, (MOST - 400) / (5 * PACK_VALUE_COST + 17), "Resource_List", "a", "1");
}
static void submit_resources(struct buf *b)
{
	key(b, "attrs");
	attrs(b, (MOST - 400) / (5 * PACK_VALUE_COST + 24), "Resource_List", "ncpus", "1");
}
static void run_where(struct buf *b)
{
	key(b, "id"), key(b, "1"), key(b, "location"), text(b, MOST - 400, "(n1:ncpus=1)+");
}
static void hold_many(struct buf *b)
{
	key(b, "id"), key(b, "1"), key(b, "holds"), text(b, MOST - 400, "u");
}
static void delete_range(struct buf *b)
{
	key(b, "id"), text(b, MOST - 400, "1[1-2],");
}
static void manage_many(struct buf *b)
{
	manage_head(b);
	attrs(b, (MOST - 400) / (5 * PACK_VALUE_COST + 16), "resources_max", "ncpus", "1");
}
static void manage_nodes(struct buf *b)
{
	key(b, "cmd"), pack_number(b, 2), key(b, "obj"), pack_number(b, 3);
	key(b, "name"), text(b, MOST - 300, "n1,"), key(b, "attrs");
	attrs(b, 1, "comment", NULL, "x");
}
static void keelson_args(struct buf *b)
{
	key(b, "verb"), key(b, "modules"), key(b, "args");
	ids(b, (MOST - 400) / (PACK_VALUE_COST + 2), false);
}

static const struct kind {
	const char *name, *req;
	void (*fill)(struct buf *);
	uint32_t n; /* keys besides req */
	/* After that, where there is one: an attribute, its value this word again and again. */
	const char *attr, *resource, *word;
	size_t len;
} kinds[] = {
	{ "nothing", "locate", .fill = nothing, .n = 1 },
	{ "too_long", "locate", .fill = too_long, .n = 1 },
	{ "status_ids", "status", .fill = status_ids, .n = 2 },
	{ "status_want", "status", .fill = status_want, .n = 2 },
	{ "status_select", "status", .fill = status_select, .n = 2 },
	{ "select_value", "status", status_head, 2, "euser", NULL, "user1234,", MOST - 400 },
	{ "select_many", "select", .fill = select_many, .n = 1 },
	{ "submit_script", "submit", .fill = submit_script, .n = 2 },
	{ "submit_select", "submit", submit_head, 1, "Resource_List", "select", "1:ncpus=1+", MOST - 400 },
	{ "submit_chunks", "submit", submit_head, 1, "Resource_List", "select", "1:ncpus=1+", CHUNKS * 10 },
	{ "submit_1nodes", "submit", submit_head, 1, "Resource_List", "nodes", "1+", CHUNKS * 2 },
	{ "submit_plus", "submit", submit_head, 1, "Resource_List", "select", "1+", MOST - 400 },
	{ "submit_nodes", "submit", submit_head, 1, "Resource_List", "nodes", "1+", MOST - 400 },
	{ "submit_variables", "submit", submit_head, 1, "Variable_List", NULL, "a=b,", MOST - 400 },
	{ "submit_depend", "submit", submit_head, 1, "depend", NULL, "after:1,", MOST - 400 },
	{ "submit_array", "submit", submit_head, 1, "array_indices_submitted", NULL, "1,", MOST - 400 },
	{ "submit_mail", "submit", submit_head, 1, "Mail_Users", NULL, "a@b,", MOST - 400 },
	{ "submit_many", "submit", .fill = submit_many, .n = 1 },
	{ "submit_resources", "submit", .fill = submit_resources, .n = 1 },
	{ "alter_name", "alter", alter_head, 2, "Account_Name", NULL, "abc", MOST - 400 },
	{ "alter_variables", "alter", alter_head, 2, "Variable_List", NULL, "a=b,", MOST - 400 },
	{ "run_where", "run", .fill = run_where, .n = 2 },
	{ "hold_many", "hold", .fill = hold_many, .n = 2 },
	{ "delete_range", "delete", .fill = delete_range, .n = 1 },
	{ "manage_acl", "manage", manage_head, 4, "acl_users", NULL, "user1234,", MOST - 400 },
	{ "manage_managers", "manage", manage_head, 4, "managers", NULL, "user1234,", MOST - 400 },
	{ "manage_limit", "manage", manage_head, 4, "max_run", NULL, "[u:user123=1],", MOST - 400 },
	{ "manage_many", "manage", .fill = manage_many, .n = 4 },
	{ "manage_nodes", "manage", .fill = manage_nodes, .n = 4 },
	{ "keelson_args", "keelson", .fill = keelson_args, .n = 2 },
	{ "delete_unknown", "delete_list", .fill = delete_unknown, .n = 1 },
	{ "delete_same", "delete_list", .fill = delete_same, .n = 1 },
	{ "delete_all", "delete_list", .fill = delete_all, .n = 1 },
};

static struct buf request(const struct kind *k)
{
	struct buf b = { 0 };
	char head[WIRE_HEADER_SIZE] = { 0 };

	buf_add(&b, head, sizeof(head));
	pack_map(&b, k->n + 1);
	pack_key_str(&b, "req", k->req);
	k->fill(&b);
	if (k->attr)
		one_of(&b, k->len, k->attr, k->resource, k->word);
	frame_header(b.data, WIRE_REQUEST, 1, (uint32_t)(b.len - sizeof(head)));
	return b;
}

/* ---- connections ---------------------------------------------------------------------------------------- */

static int dial(void)
{
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	snprintf(to.sun_path, sizeof(to.sun_path), "%s", socket_path);
	if (fd < 0 || connect(fd, (struct sockaddr *)&to, sizeof(to)) < 0) {
		perror(socket_path);
		exit(1);
	}
	return fd;
}

static bool send_all(int fd, const char *bytes, size_t len)
{
	for (ssize_t n; len > 0; bytes += n, len -= (size_t)n)
		if ((n = send(fd, bytes, len, MSG_NOSIGNAL)) <= 0)
			return false;
	return true;
}

/* The next frame is read and forgotten but for its type. 0: the peer closed. */
static int hear(int fd, struct frame_reader *r, int64_t *code)
{
	struct frame f;
	struct pack p;
	char *room;
	size_t len;

	for (int ret; (ret = frame_next(r, &f)) != 1;) {
		ssize_t n;

		if (ret < 0 || frame_reader_room(r, 65536, &room, &len) < 0 || (n = read(fd, room, len)) <= 0)
			return 0;
		frame_reader_added(r, (size_t)n);
	}
	if (f.type == WIRE_REPLY && code && pack_open(&p, f.body, f.len) == 0) {
		*code = pack_int(&p.root, "code", -1);
		pack_fini(&p);
	}
	return f.type;
}

struct lane {
	pthread_t thread;
	const struct buf *request;
	int64_t code;
};

static void *lane_run(void *arg)
{
	struct lane *lane = arg;
	struct frame_reader r;
	int fd = dial(), type;

	frame_reader_init(&r, WIRE_BODY_MAX);
	lane->code = -1;
	if (send_all(fd, lane->request->data, lane->request->len))
		while ((type = hear(fd, &r, &lane->code)) && type != WIRE_REPLY)
			;
	frame_reader_fini(&r);
	close(fd);
	open_requests--;
	return NULL;
}

/* ---- measuring ------------------------------------------------------------------------------------------ */

static double now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static double computed_ms(const char *schedstat)
{
	FILE *f = fopen(schedstat, "re");
	double ns = 0;

	if (f == NULL || fscanf(f, "%lf", &ns) != 1)
		exit(1);
	fclose(f);
	return ns / 1e6;
}

struct worst {
	double computed, waited;
};

static void ping(int fd, struct frame_reader *r, const char *schedstat, struct worst *w)
{
	static const char empty_map = (char)0x80;
	char frame[WIRE_HEADER_SIZE + 1];
	double begin = now_ms(), before = computed_ms(schedstat), n;

	frame_header(frame, WIRE_PING, 2, 1);
	frame[WIRE_HEADER_SIZE] = empty_map;
	if (!send_all(fd, frame, sizeof(frame)) || hear(fd, r, NULL) != WIRE_PONG)
		exit(1);
	n = computed_ms(schedstat) - before;
	w->computed = n > w->computed ? n : w->computed;
	n = now_ms() - begin;
	w->waited = n > w->waited ? n : w->waited;
}

static struct worst measure(const struct kind *k, const char *schedstat, int *ret_code)
{
	struct lane lanes[CLIENTS] = { 0 };
	struct worst w = { 0 };
	struct frame_reader r;
	struct buf b = request(k);
	int fd = dial();

	frame_reader_init(&r, 4096);
	open_requests = CLIENTS;
	for (int i = 0; i < CLIENTS; i++) {
		lanes[i].request = &b;
		if (pthread_create(&lanes[i].thread, NULL, lane_run, &lanes[i]))
			exit(1);
	}
	while (open_requests > 0) {
		ping(fd, &r, schedstat, &w);
		nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
	}
	for (int i = 0; i < CLIENTS; i++)
		pthread_join(lanes[i].thread, NULL);
	*ret_code = (int)lanes[0].code;
	close(fd);
	frame_reader_fini(&r);
	buf_fini(&b);
	return w;
}

static double measure_alone(double seconds, const char *schedstat)
{
	double until = now_ms() + seconds * 1e3;
	struct worst w = { 0 };
	struct frame_reader r;
	int fd = dial();

	frame_reader_init(&r, 4096);
	while (now_ms() < until) {
		ping(fd, &r, schedstat, &w);
		nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
	}
	close(fd);
	frame_reader_fini(&r);
	return w.computed;
}

int main(int argc, char **argv)
{
	char schedstat[64];
	double worst = 0;
	int code;

	socket_path = argc > 2 ? argv[2] : NULL;
	if (socket_path == NULL)
		return 2;
	/* Who measures comes before the sixteen: between a look at the clock and the PING nothing else runs. */
	sched_setscheduler(0, SCHED_RR | SCHED_RESET_ON_FORK, &(struct sched_param){ .sched_priority = 1 });
	snprintf(schedstat, sizeof(schedstat), "/proc/%s/task/%s/schedstat", argv[1], argv[1]);
	if (argc > 4 && strcmp(argv[3], "--seconds") == 0) {
		printf("%.1f\n", measure_alone(atof(argv[4]), schedstat));
		return 0;
	}
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		struct worst w;

		if (argc > 3 && *argv[3] && strstr(argv[3], kinds[i].name) == NULL)
			continue;
		w = measure(&kinds[i], schedstat, &code);
		fprintf(stderr, "%s: %.1f ms, %.1f by the clock, answered %d\n", kinds[i].name, w.computed, w.waited, code);
		worst = w.computed > worst ? w.computed : worst;
	}
	printf("%.1f\n", worst);
	return 0;
}
