/* SPDX-License-Identifier: Apache-2.0
 *
 * pair.c - make, write and read key files.
 *
 * The secret file is created with O_EXCL and its final mode, so there is no moment in which others
 * could read it and no key that is replaced by mistake.
 */
#include "pair.h"

#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LINE_MAX_BYTES 512

bool pair_role_valid(const char *role)
{
	return strcmp(role, "server") == 0 || strcmp(role, "mom") == 0;
}

bool pair_host_valid(const char *host)
{
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyz"
				      "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_";
	size_t len = strlen(host);

	return len > 0 && len <= PAIR_HOST_MAX && strspn(host, allowed) == len && host[0] != '.' &&
	       host[0] != '-';
}

void pair_make(struct pair *p, const char *role, const char *host)
{
	memset(p, 0, sizeof(*p));
	snprintf(p->role, sizeof(p->role), "%s", role);
	snprintf(p->host, sizeof(p->host), "%s", host);
	crypto_kx_keypair(p->public_key, p->secret_key);
}

void pair_wipe(struct pair *p)
{
	sodium_memzero(p, sizeof(*p));
}

static int say(char why[PAIR_WHY_MAX], int ret, const char *path)
{
	snprintf(why, PAIR_WHY_MAX, "%.300s: %s", path,
		 ret == -EEXIST ? "exists already; remove it first if the key is to be replaced"
				: strerror(-ret));
	return ret;
}

static int write_file(const char *path, mode_t mode, const struct pair *p, const uint8_t *key,
		      char why[PAIR_WHY_MAX])
{
	char text[64], line[LINE_MAX_BYTES];
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode), len, ret = 0;

	if (fd < 0)
		return say(why, -errno, path);
	sodium_bin2base64(text, sizeof(text), key, PAIR_KEY_SIZE, sodium_base64_VARIANT_ORIGINAL);
	len = snprintf(line, sizeof(line), "%s %s %s\n", p->role, p->host, text);
	if (fchmod(fd, mode) < 0 || write(fd, line, (size_t)len) != len || fsync(fd) < 0)
		ret = errno != 0 ? -errno : -EIO;
	if (close(fd) < 0 && ret == 0)
		ret = -errno;
	sodium_memzero(text, sizeof(text));
	sodium_memzero(line, sizeof(line));
	if (ret < 0) {
		unlink(path);
		return say(why, ret, path);
	}
	return 0;
}

int pair_write(const struct pair *p, const char *dir, char why[PAIR_WHY_MAX])
{
	char secret[4096], public[4096];
	int ret;

	if ((size_t)snprintf(secret, sizeof(secret), "%s/%s.key", dir, p->host) >= sizeof(secret) ||
	    (size_t)snprintf(public, sizeof(public), "%s/%s.pub", dir, p->host) >= sizeof(public))
		return say(why, -ENAMETOOLONG, dir);
	if (access(public, F_OK) == 0)
		return say(why, -EEXIST, public);
	ret = write_file(secret, 0600, p, p->secret_key, why);
	if (ret == 0) {
		ret = write_file(public, 0644, p, p->public_key, why);
		if (ret < 0)
			unlink(secret);
	}
	return ret;
}

static int bad_file(const char *path, char why[PAIR_WHY_MAX])
{
	snprintf(why, PAIR_WHY_MAX, "%.300s: expected one line `server|mom HOST KEY`", path);
	return -EINVAL;
}

static int parse(const char *line, struct pair *p, uint8_t key[PAIR_KEY_SIZE])
{
	char text[64];
	size_t len = 0;
	int end = 0;

	if (sscanf(line, "%7s %255s %63s %n", p->role, p->host, text, &end) != 3 || line[end] != '\0' ||
	    !pair_role_valid(p->role) || !pair_host_valid(p->host) ||
	    sodium_base642bin(key, PAIR_KEY_SIZE, text, strlen(text), NULL, &len, NULL,
			      sodium_base64_VARIANT_ORIGINAL) != 0 || len != PAIR_KEY_SIZE)
		return -EINVAL;
	sodium_memzero(text, sizeof(text));
	return 0;
}

/* The name tells a secret file (.key) from a public one. */
int pair_read(const char *path, struct pair *ret, bool *ret_secret, char why[PAIR_WHY_MAX])
{
	char line[LINE_MAX_BYTES];
	const char *dot = strrchr(path, '.');
	bool secret = dot != NULL && strcmp(dot, ".key") == 0;
	struct pair p = { 0 };
	size_t len;
	FILE *f = fopen(path, "re");

	if (f == NULL)
		return say(why, -errno, path);
	len = fread(line, 1, sizeof(line) - 1, f);
	fclose(f);
	line[len] = '\0';
	if (memchr(line, '\0', len) != NULL || parse(line, &p, secret ? p.secret_key : p.public_key) < 0)
		return bad_file(path, why);
	if (secret && crypto_scalarmult_base(p.public_key, p.secret_key) != 0)
		return bad_file(path, why);
	sodium_memzero(line, sizeof(line));
	*ret = p;
	*ret_secret = secret;
	pair_wipe(&p);
	return 0;
}
