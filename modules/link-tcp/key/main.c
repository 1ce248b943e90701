/* SPDX-License-Identifier: Apache-2.0
 *
 * keelson-key - make the key pair of a daemon, and show what a key file holds.
 *
 * A secret key stays on its host. The public file of a mom goes to the server's directory of peers as
 * HOST.pub, that of the server to every mom's as server.pub.
 */
#include <getopt.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pair.h"
#include "program/answer.h"
#include "program/version_word.h"

enum { EXIT_USAGE = 2 };

static const char usage_text[] =
	"usage: keelson-key make --role server|mom|login --host NAME --dir DIR\n"
	"       keelson-key show FILE\n"
	"\n"
	"make   write DIR/NAME.key (secret, mode 0600) and DIR/NAME.pub\n"
	"show   print role, host, public key and fingerprint of a .key or .pub file\n";

static int usage(void)
{
	fputs(usage_text, stderr);
	return EXIT_USAGE;
}

static int complain(const char *why)
{
	fprintf(stderr, "keelson-key: %s\n", why);
	return EXIT_FAILURE;
}

static int make(const char *role, const char *host, const char *dir)
{
	uint32_t daemon = key_role(role, strlen(role));
	struct keel_err err;
	struct identity id;
	int ret;

	if (daemon == 0)
		return complain("a role is 'server', 'mom' or 'login'");
	if (!key_host_valid(host, strlen(host)))
		return complain("a host name has letters, digits, '.', '-' and '_' only");
	if (daemon != KEEL_SERVER && strcmp(host, "server") == 0)
		return complain("no host may be named 'server', that is how hosts call theirs");
	pair_make(&id, daemon, host);
	ret = pair_write(&id, dir, &err);
	pair_wipe(&id);
	if (ret < 0)
		return complain(err.text);
	printf("%s/%s.key\n%s/%s.pub\n", dir, host, dir, host);
	if (daemon != KEEL_SERVER)
		printf("Copy %s.pub into the server's directory of peers.\n", host);
	else
		printf("Copy %s.pub as server.pub into each host's directory of peers.\n", host);
	return EXIT_SUCCESS;
}

static int make_command(int argc, char **argv)
{
	static const struct option options[] = {
		{ "role", required_argument, NULL, 'r' },
		{ "host", required_argument, NULL, 'h' },
		{ "dir", required_argument, NULL, 'd' },
		{ NULL, 0, NULL, 0 },
	};
	const char *role = NULL, *host = NULL, *dir = NULL;
	int c;

	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (c == 'r')
			role = optarg;
		else if (c == 'h')
			host = optarg;
		else if (c == 'd')
			dir = optarg;
		else
			return usage();
	}
	if (role == NULL || host == NULL || dir == NULL || optind != argc)
		return usage();
	return make(role, host, dir);
}

/* A short form of the public key that people can compare by reading it out. */
static void print_fingerprint(const uint8_t key[KEY_SIZE])
{
	uint8_t hash[16];

	crypto_generichash(hash, sizeof(hash), key, KEY_SIZE, NULL, 0);
	printf("fingerprint ");
	for (size_t i = 0; i < sizeof(hash); i++)
		printf("%02x%s", hash[i], i % 2 == 1 && i + 1 < sizeof(hash) ? "-" : "");
	printf("\n");
}

static int show(const char *path)
{
	const char *dot = strrchr(path, '.');
	enum key_file kind = dot != NULL && strcmp(dot, ".key") == 0 ? KEY_SECRET : KEY_PUBLIC;
	struct keel_err err;
	struct identity id;
	char text[64];

	if (key_read(path, kind, &id, &err) < 0)
		return complain(err.text);
	sodium_bin2base64(text, sizeof(text), id.public_key, KEY_SIZE, sodium_base64_VARIANT_ORIGINAL);
	printf("file        %s key\nrole        %s\nhost        %s\npublic key  %s\n",
	       kind == KEY_SECRET ? "secret" : "public", key_role_word(id.daemon), id.host, text);
	print_fingerprint(id.public_key);
	pair_wipe(&id);
	return EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
	if (version_word(argc, argv))
		return 0;
	answer_must_arrive();
	if (sodium_init() < 0)
		return complain("libsodium cannot start");
	if (argc >= 2 && strcmp(argv[1], "make") == 0)
		return make_command(argc - 1, argv + 1);
	if (argc == 3 && strcmp(argv[1], "show") == 0)
		return show(argv[2]);
	if (argc == 2 && strcmp(argv[1], "--help") == 0) {
		fputs(usage_text, stdout);
		return EXIT_SUCCESS;
	}
	return usage();
}
