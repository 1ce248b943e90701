/* SPDX-License-Identifier: Apache-2.0
 *
 * test_links.c - daemons that link, lose each other, and lie.
 */
#include "test_world.h"

/* ---- TCP ------------------------------------------------------------------------------------------- */
static void test_tcp(void)
{
	pair_start();
	CU_ASSERT_STRING_EQUAL(server.daemon.up_peer, MOM_HOST);
	CU_ASSERT_EQUAL(server.daemon.up_daemon, KEEL_MOM);
	CU_ASSERT_STRING_EQUAL(mom.daemon.up_peer, "server");
	CU_ASSERT_EQUAL(mom.daemon.up_daemon, KEEL_SERVER);
	CU_ASSERT_EQUAL(send_text(&server.daemon, MOM_HOST, "hello mom"), 0);
	CU_ASSERT_EQUAL(send_text(&mom.daemon, "server", "hello server"), 0);
	wait_counter(&server.daemon.messages, 1);
	wait_counter(&mom.daemon.messages, 1);
	CU_ASSERT_STRING_EQUAL(mom.daemon.last_peer, "server");
	CU_ASSERT_STRING_EQUAL(mom.daemon.last_text, "hello mom");
	CU_ASSERT_STRING_EQUAL(server.daemon.last_peer, MOM_HOST);
	CU_ASSERT_STRING_EQUAL(server.daemon.last_text, "hello server");
	pair_stop();
}

static void test_many_and_large(void)
{
	static char block[5 << 20];
	char number[16];
	struct keel_out *o = out_create();

	pair_start();
	for (int i = 0; i < 2000; i++) {
		snprintf(number, sizeof(number), "%d", i);
		CU_ASSERT_EQUAL(send_text(&server.daemon, MOM_HOST, number), 0);
	}
	wait_counter(&mom.daemon.messages, 2000);
	CU_ASSERT_STRING_EQUAL(mom.daemon.last_text, "1999");
	memset(block, 'b', sizeof(block) - 1);
	CU_ASSERT_EQUAL(send_text(&server.daemon, MOM_HOST, block), 0);
	wait_counter(&mom.daemon.messages, 2001);
	CU_ASSERT_EQUAL(send_text(&mom.daemon, "server", block), 0);
	wait_counter(&server.daemon.messages, 1);
	for (int i = 0; i < 7; i++) { /* more than a link takes: 32 MiB */
		snprintf(number, sizeof(number), "%d", i);
		msg_api.put_bytes(o, number, block, sizeof(block));
	}
	CU_ASSERT_EQUAL(server.daemon.link->send(&server.daemon.owner.pub, MOM_HOST, "text", o), -EMSGSIZE);
	CU_ASSERT_EQUAL(server.daemon.ups, 1);
	pair_stop();
}

static void test_lost_and_found(void)
{
	pair_init();
	server.conf.grace = mom.conf.grace = 60000;
	mom_start();
	wait_counter(&server.daemon.ups, 1);
	wait_counter(&mom.daemon.ups, 1);
	conn_drop(server.link.conns, "cut by the test");
	CU_ASSERT(!server.daemon.link->is_up(&server.daemon.owner.pub, MOM_HOST));
	CU_ASSERT_EQUAL(send_text(&server.daemon, MOM_HOST, "nobody"), -ENOTCONN);
	wait_counter(&server.daemon.ups, 2);
	wait_counter(&mom.daemon.ups, 2);
	CU_ASSERT_EQUAL(server.daemon.downs, 0);
	CU_ASSERT_EQUAL(mom.daemon.downs, 0);
	CU_ASSERT_EQUAL(send_text(&server.daemon, MOM_HOST, "again"), 0);
	wait_counter(&mom.daemon.messages, 1);
	CU_ASSERT_STRING_EQUAL(mom.daemon.last_text, "again");
	pair_stop();
}

static void test_grace(void)
{
	pair_init();
	server.conf.grace = 30;
	mom.conf.grace = 60000;
	mom_start();
	wait_counter(&server.daemon.ups, 1);
	wait_counter(&mom.daemon.ups, 1);
	keel_module.stop(&mom.owner.pub);
	wait_counter(&server.daemon.downs, 1);
	turn_for(50);
	CU_ASSERT_EQUAL(server.daemon.downs, 1);
	CU_ASSERT_EQUAL(server.daemon.ups, 1);
	CU_ASSERT_EQUAL(mom.daemon.downs, 0);
	pair_stop();
}

static void test_server_comes_later(void)
{
	struct keel_err err = { 0 };

	pair_init();
	keel_module.stop(&server.owner.pub);
	mom_start();
	CU_ASSERT_EQUAL(loop_run_until(w.loop, told_why, &(struct refusal){ .mom_log = "cannot link with" }, DEADLINE_MS), 0);
	CU_ASSERT_EQUAL(mom.daemon.ups, 0);
	server.conf.listen = mom.address; /* the port it had */
	CU_ASSERT_FATAL(keel_module.start(&server.owner.pub, &err) == 0);
	wait_counter(&mom.daemon.ups, 1);
	pair_stop();
}

/* A server that restarts is where it was, and nothing was down meanwhile. */
static void test_goodbye(void)
{
	struct keel_err err = { 0 };

	pair_start();
	links_goodbye(server.daemon.parts.links);
	keel_module.stop(&server.owner.pub);
	CU_ASSERT_EQUAL(loop_run_until(w.loop, told_why, &(struct refusal){ .mom_log = "it restarts" }, DEADLINE_MS), 0);
	turn_for(150); /* more than the grace of an ordinary loss */
	CU_ASSERT_EQUAL(mom.daemon.downs, 0);
	CU_ASSERT_FATAL(keel_module.start(&server.owner.pub, &err) == 0);
	wait_counter(&mom.daemon.ups, 2);
	CU_ASSERT_EQUAL(mom.daemon.downs, 0);
	pair_stop();
}

/* The port of the last start is taken: another one is chosen. */
static void test_port_taken(void)
{
	struct keel_err err = { 0 };
	int before, fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };

	pair_init();
	before = port_of(&server);
	keel_module.stop(&server.owner.pub);
	at.sin_port = htons((uint16_t)before);
	CU_ASSERT_FATAL(bind(fd, (struct sockaddr *)&at, sizeof(at)) == 0 && listen(fd, 1) == 0);
	CU_ASSERT_EQUAL(keel_module.start(&server.owner.pub, &err), 0);
	CU_ASSERT_NOT_EQUAL(port_of(&server), before);
	close(fd);
	carrier_stop(&server);
	daemon_stop(&mom.daemon);
	world_stop();
}

static void test_messages_of_a_lost_link(void)
{
	pair_start();
	CU_ASSERT_EQUAL(send_text(&server.daemon, MOM_HOST, "for the old link"), 0);
	conn_drop(server.link.conns, "cut by the test");
	wait_counter(&mom.daemon.ups, 2);
	wait_counter(&server.daemon.ups, 2);
	CU_ASSERT_EQUAL(send_text(&server.daemon, MOM_HOST, "for the new link"), 0);
	wait_counter(&mom.daemon.messages, 1);
	CU_ASSERT_STRING_EQUAL(mom.daemon.last_text, "for the new link");
	pair_stop();
}

static bool both_up(void *arg)
{
	(void)arg;
	return server.daemon.link->is_up(&server.daemon.owner.pub, MOM_HOST) &&
	       mom.daemon.link->is_up(&mom.daemon.owner.pub, "server");
}

/* Cut at any moment, by either side, in the middle of anything. */
static void test_cut_again_and_again(void)
{
	static char block[200000];
	uint32_t seed = 12345;

	pair_init();
	server.conf.grace = mom.conf.grace = 60000;
	mom_start();
	wait_counter(&server.daemon.ups, 1);
	memset(block, 'b', sizeof(block) - 1);
	for (int i = 0; i < 400; i++) {
		struct link *l;

		seed = seed * 1103515245 + 12345;
		l = seed & 0x10000 ? &server.link : &mom.link;
		send_text(&server.daemon, MOM_HOST, seed & 0x20000 ? block : "small");
		send_text(&mom.daemon, "server", seed & 0x40000 ? block : "small");
		turn_for(seed >> 19 & 3);
		if (l->conns != NULL && (seed >> 22 & 7) == 0)
			conn_drop(l->conns, "cut by the test");
	}
	CU_ASSERT_FATAL(loop_run_until(w.loop, both_up, NULL, DEADLINE_MS) == 0);
	CU_ASSERT(server.daemon.ups > 3);
	CU_ASSERT_EQUAL(server.daemon.downs + mom.daemon.downs, 0);
	CU_ASSERT(server.daemon.messages > 0 && mom.daemon.messages > 0);
	server.daemon.messages = mom.daemon.messages = 0;
	CU_ASSERT_EQUAL(send_text(&server.daemon, MOM_HOST, "at last"), 0);
	CU_ASSERT_EQUAL(send_text(&mom.daemon, "server", "at last"), 0);
	while (strcmp(server.daemon.last_text, "at last") != 0 || strcmp(mom.daemon.last_text, "at last") != 0)
		turn_for(1);
	pair_stop();
}

/* ---- keys that do not fit ----------------------------------------------------------------------------- */
static void expect_no_link(const char *server_log, const char *mom_log)
{
	struct refusal why = { server_log, mom_log };

	mom_start();
	CU_ASSERT_EQUAL(loop_run_until(w.loop, told_why, &why, DEADLINE_MS), 0);
	turn_for(20);
	CU_ASSERT_EQUAL(server.daemon.ups, 0);
	CU_ASSERT_EQUAL(mom.daemon.ups, 0);
	pair_stop();
}

static void test_mom_not_enrolled(void)
{
	char path[256];

	pair_init();
	snprintf(path, sizeof(path), "%s/%s.pub", server.peers_dir, MOM_HOST);
	unlink(path);
	expect_no_link("no key is enrolled for this host", "the key of this host is not enrolled there");
}

static void test_mom_with_another_key(void)
{
	pair_init();
	make_identity(&mom_id, KEEL_MOM, MOM_HOST);
	write_key(mom.key_file, "mom", MOM_HOST, mom_id.secret_key, 0600);
	expect_no_link("its key is not the one enrolled", NULL);
}

static void test_server_with_another_key(void)
{
	pair_init();
	make_identity(&server_id, KEEL_SERVER, SERVER_HOST);
	enrol(&mom, "server", "server", &server_id);
	expect_no_link(NULL, "its key is not the one enrolled");
}

static void test_role_bound_to_key(void)
{
	pair_init();
	enrol(&server, MOM_HOST, "server", &mom_id);
	expect_no_link("the key enrolled under this name has another role", NULL);
}

static void test_key_of_another_host(void)
{
	pair_init();
	strcpy(mom_id.host, "n2.example.org");
	enrol(&server, MOM_HOST, "mom", &mom_id);
	expect_no_link("belongs to another host", NULL);
}

static void test_own_key_checked(void)
{
	struct keel_err err = { 0 };

	pair_init();
	write_key(mom.key_file, "server", MOM_HOST, mom_id.secret_key, 0600);
	CU_ASSERT_EQUAL(carrier_try(&mom, &err), -EINVAL);
	CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "is a key of a server, but this daemon is a mom"));
	write_key(mom.key_file, "mom", "n2.example.org", mom_id.secret_key, 0600);
	CU_ASSERT_EQUAL(carrier_try(&mom, &err), -EINVAL);
	write_key(mom.key_file, "mom", MOM_HOST, mom_id.secret_key, 0640);
	CU_ASSERT_EQUAL(carrier_try(&mom, &err), -EPERM);
	unlink(mom.key_file);
	CU_ASSERT_EQUAL(carrier_try(&mom, &err), -ENOENT);
	CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "`keelson-key make --role mom --host " MOM_HOST " --dir DIR`"));
	pair_stop();
}

/* ---- strangers ------------------------------------------------------------------------------------- */
static void put_chunk(struct buf *b, const void *bytes, size_t len)
{
	uint8_t head[4] = { 0, 0, (uint8_t)(len >> 8), (uint8_t)len };

	buf_add(b, head, sizeof(head));
	buf_add(b, bytes, len);
}

/* A handshake done by hand as the enrolled mom; what was said is left in *said. */
static void greet_by_hand(struct stranger *s, struct buf *said)
{
	static const char proof[] = "keelson link proof";
	crypto_secretstream_xchacha20poly1305_state push;
	uint8_t send_key[KEY_SIZE], receive_key[KEY_SIZE], header[STREAM_HEADER], sealed[128];
	unsigned long long sealed_len;
	struct greeting g;
	struct hello theirs;
	size_t len;

	stranger_connect(s, &server);
	hello_init(&g, &mom_id, NULL, 0);
	put_chunk(said, g.mine, g.mine_len);
	stranger_write(s, said->data, said->len);
	stranger_wait(s, 4 + strlen(SERVER_HOST) + 7 + 2 * KEY_SIZE + 1);
	CU_ASSERT_FATAL(!s->eof);
	len = (size_t)s->in[2] << 8 | s->in[3];
	CU_ASSERT_FATAL(hello_decode(s->in + 4, len, &theirs) == 0);
	CU_ASSERT_FATAL(hello_keys(&g, &mom_id, server_id.public_key, &theirs, s->in + 4, len, true,
				   send_key, receive_key) == 0);
	crypto_secretstream_xchacha20poly1305_init_push(&push, header, send_key);
	crypto_secretstream_xchacha20poly1305_push(&push, sealed, &sealed_len, (const uint8_t *)proof,
						   sizeof(proof), NULL, 0, 0);
	len = said->len;
	put_chunk(said, header, sizeof(header));
	put_chunk(said, sealed, sealed_len);
	stranger_write(s, said->data + len, said->len - len);
}

static void test_replay(void)
{
	struct stranger s, replay;
	struct buf said;

	pair_init();
	buf_init(&said);
	greet_by_hand(&s, &said);
	wait_counter(&server.daemon.ups, 1);
	stranger_connect(&replay, &server);
	stranger_write(&replay, said.data, said.len);
	stranger_wait_closed(&replay);
	CU_ASSERT_EQUAL(server.daemon.ups, 1);
	CU_ASSERT(daemon_log_has(&server.daemon, "it does not have the secret key of the host it names"));
	CU_ASSERT(server.daemon.link->is_up(&server.daemon.owner.pub, MOM_HOST));
	close(s.fd);
	close(replay.fd);
	buf_fini(&said);
	carrier_stop(&mom);
	carrier_stop(&server);
	world_stop();
}

static void expect_refused(const void *bytes, size_t len)
{
	struct stranger s;

	stranger_connect(&s, &server);
	stranger_write(&s, bytes, len);
	stranger_wait_closed(&s);
	close(s.fd);
	CU_ASSERT_EQUAL(server.link.n_half_open, 0);
}

static void test_garbage(void)
{
	struct greeting g;
	struct identity liar = { .daemon = KEEL_SERVER, .host = "server" };
	struct stranger s;
	struct buf b;

	pair_init();
	server.link.limits.greet_ms = 40;
	expect_refused("GET / HTTP/1.0\r\n\r\n", 18);
	expect_refused("\0\0\0\0", 4);
	expect_refused("\0\0\x10\0", 4);
	expect_refused("\0\0\0\5KEEL\1", 9);
	expect_refused("\0\0\0\7KEEL\2\2\0", 11);
	buf_init(&b);
	hello_init(&g, &liar, NULL, 0); /* the role is not that of a mom */
	put_chunk(&b, g.mine, g.mine_len);
	expect_refused(b.data, b.len);
	buf_reset(&b);
	liar.daemon = KEEL_MOM; /* the name of the server as a host */
	hello_init(&g, &liar, NULL, 0);
	put_chunk(&b, g.mine, g.mine_len);
	expect_refused(b.data, b.len);
	buf_reset(&b);
	hello_init(&g, &mom_id, NULL, 0); /* no point of the curve */
	memset(g.mine + 7 + strlen(MOM_HOST), 0, KEY_SIZE);
	put_chunk(&b, g.mine, g.mine_len);
	expect_refused(b.data, b.len);
	/* half a hello, and nothing more */
	stranger_connect(&s, &server);
	stranger_write(&s, b.data, b.len / 2);
	stranger_wait_closed(&s);
	close(s.fd);
	CU_ASSERT_EQUAL(server.daemon.ups, 0);
	buf_fini(&b);
	carrier_stop(&mom);
	carrier_stop(&server);
	world_stop();
}

static void test_strangers_do_not_keep_others_out(void)
{
	struct stranger s[12];

	pair_init();
	server.link.limits.half_open = 4;
	for (int i = 0; i < 12; i++)
		stranger_connect(&s[i], &server);
	stranger_wait(&s[0], 1);
	CU_ASSERT(s[0].eof);
	CU_ASSERT(server.link.n_half_open <= 4);
	mom_start();
	wait_counter(&server.daemon.ups, 1);
	for (int i = 0; i < 12; i++)
		close(s[i].fd);
	pair_stop();
}

static void test_peer_that_does_not_read(void)
{
	static char block[65536];
	struct stranger s;
	struct buf said;

	pair_init();
	server.link.limits.queue_max = 1 << 20;
	buf_init(&said);
	greet_by_hand(&s, &said);
	wait_counter(&server.daemon.ups, 1);
	memset(block, 'x', sizeof(block) - 1);
	for (int i = 0; i < 1000 && server.daemon.link->is_up(&server.daemon.owner.pub, MOM_HOST); i++) {
		send_text(&server.daemon, MOM_HOST, block);
		turn_for(0);
	}
	CU_ASSERT(!server.daemon.link->is_up(&server.daemon.owner.pub, MOM_HOST));
	CU_ASSERT(daemon_log_has(&server.daemon, "it does not read"));
	wait_counter(&server.daemon.downs, 1);
	close(s.fd);
	buf_fini(&said);
	carrier_stop(&mom);
	carrier_stop(&server);
	world_stop();
}

static void test_silent_peer(void)
{
	struct stranger s;
	struct buf said;

	pair_init();
	server.conf.heartbeat = 10;
	buf_init(&said);
	greet_by_hand(&s, &said);
	wait_counter(&server.daemon.ups, 1);
	wait_counter(&server.daemon.downs, 1);
	CU_ASSERT(daemon_log_has(&server.daemon, "no sign of life"));
	close(s.fd);
	buf_fini(&said);
	carrier_stop(&mom);
	carrier_stop(&server);
	world_stop();
}

static void test_heartbeat_keeps_a_quiet_link(void)
{
	pair_init();
	server.conf.heartbeat = 10;
	mom_start();
	wait_counter(&server.daemon.ups, 1);
	turn_for(200);
	CU_ASSERT_EQUAL(server.daemon.ups, 1);
	CU_ASSERT(server.daemon.link->is_up(&server.daemon.owner.pub, MOM_HOST));
	pair_stop();
}

static void test_same_mom_twice(void)
{
	struct stranger first, second;
	struct buf said;

	pair_init();
	server.conf.grace = 5000;
	server.link.limits.rival_ms = 50;
	buf_init(&said);
	greet_by_hand(&first, &said);
	wait_counter(&server.daemon.ups, 1);
	buf_reset(&said);
	greet_by_hand(&second, &said);
	wait_counter(&server.daemon.ups, 2);
	CU_ASSERT_EQUAL(server.daemon.downs, 0);
	CU_ASSERT(daemon_log_has(&server.daemon, "it does not answer, and links anew"));
	stranger_wait_closed(&first);
	close(first.fd);
	close(second.fd);
	buf_fini(&said);
	carrier_stop(&mom);
	carrier_stop(&server);
	world_stop();
}

static void test_tampered_bytes(void)
{
	struct stranger s;
	struct buf said;

	pair_init();
	buf_init(&said);
	greet_by_hand(&s, &said);
	wait_counter(&server.daemon.ups, 1);
	buf_reset(&said);
	put_chunk(&said, "seventeen bytes, or more of them", 32);
	stranger_write(&s, said.data, said.len);
	stranger_wait_closed(&s);
	CU_ASSERT(daemon_log_has(&server.daemon, "bytes that were not sealed by it"));
	close(s.fd);
	buf_fini(&said);
	carrier_stop(&mom);
	carrier_stop(&server);
	world_stop();
}

/* What an older version says is answered with a hello of this one, and refused with both numbers. */
static void test_another_version(void)
{
	struct stranger s;
	struct greeting g;
	struct buf b;

	pair_init();
	buf_init(&b);
	hello_init(&g, &mom_id, NULL, 0);
	g.mine[4] = HELLO_VERSION - 1;
	put_chunk(&b, g.mine, g.mine_len - 1);
	stranger_connect(&s, &server);
	stranger_write(&s, b.data, b.len);
	stranger_wait(&s, 9);
	CU_ASSERT_EQUAL(hello_version(s.in + 4, s.in_len - 4), HELLO_VERSION);
	stranger_wait_closed(&s);
	CU_ASSERT(daemon_log_has(&server.daemon, "it speaks version 1 of the link protocol, this daemon 2"));
	close(s.fd);
	buf_fini(&b);
	pair_stop();
}

struct door {
	int listening, fd;
};

static bool came(void *arg)
{
	struct door *d = arg;

	d->fd = accept4(d->listening, NULL, NULL, SOCK_CLOEXEC);
	return d->fd >= 0;
}

static void test_server_of_another_version(void)
{
	struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	struct refusal why = { NULL, "it speaks version 3 of the link protocol, this daemon 2" };
	socklen_t len = sizeof(at);
	struct door d = { .listening = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0) };

	pair_init();
	CU_ASSERT_FATAL(bind(d.listening, (struct sockaddr *)&at, len) == 0 && listen(d.listening, 1) == 0);
	CU_ASSERT_FATAL(getsockname(d.listening, (struct sockaddr *)&at, &len) == 0);
	snprintf(mom.address, sizeof(mom.address), "127.0.0.1:%d", ntohs(at.sin_port));
	mom_start();
	CU_ASSERT_FATAL(loop_run_until(w.loop, came, &d, DEADLINE_MS) == 0);
	CU_ASSERT_EQUAL(send(d.fd, "\0\0\0\5KEEL\3", 9, MSG_NOSIGNAL), 9);
	CU_ASSERT_EQUAL(loop_run_until(w.loop, told_why, &why, DEADLINE_MS), 0);
	close(d.fd);
	close(d.listening);
	pair_stop();
}

TESTS_MAIN("links", TEST(test_tcp), TEST(test_many_and_large), TEST(test_lost_and_found),
	   TEST(test_grace), TEST(test_server_comes_later), TEST(test_goodbye), TEST(test_port_taken), TEST(test_messages_of_a_lost_link),
	   TEST(test_cut_again_and_again), TEST(test_mom_not_enrolled), TEST(test_mom_with_another_key),
	   TEST(test_server_with_another_key), TEST(test_role_bound_to_key), TEST(test_key_of_another_host),
	   TEST(test_own_key_checked), TEST(test_replay), TEST(test_garbage),
	   TEST(test_strangers_do_not_keep_others_out), TEST(test_peer_that_does_not_read),
	   TEST(test_silent_peer), TEST(test_heartbeat_keeps_a_quiet_link), TEST(test_same_mom_twice),
	   TEST(test_tampered_bytes), TEST(test_another_version),
	   TEST(test_server_of_another_version))
