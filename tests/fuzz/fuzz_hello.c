/* SPDX-License-Identifier: Apache-2.0
 *
 * fuzz_hello.c - any bytes as the hello of a stranger, and as a key file: what is accepted is a name
 * that may be part of a path, terminated, with one role; what is written back is the same bytes.
 */
#include <sodium.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "link-tcp/hello.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_host(const char host[KEY_HOST_MAX + 1])
{
	size_t len = strnlen(host, KEY_HOST_MAX + 1);

	if (len == 0 || len > KEY_HOST_MAX || !key_host_valid(host, len) || host[0] == '.' ||
	    strchr(host, '/') != NULL)
		abort();
}

static void check_role(uint32_t daemon)
{
	if (daemon != KEEL_SERVER && daemon != KEEL_MOM)
		abort();
}

static void as_hello(const uint8_t *bytes, size_t size)
{
	struct identity me = { .daemon = KEEL_SERVER, .host = "head" };
	uint8_t send_key[KEY_SIZE], receive_key[KEY_SIZE];
	struct greeting g;
	struct hello h;

	if (hello_decode(bytes, size, &h) < 0)
		return;
	check_role(h.daemon);
	check_host(h.host);
	if (size > HELLO_MAX || h.ticket_len > TICKET_MAX ||
	    size != 7 + strlen(h.host) + 2 * KEY_SIZE + 1 + h.ticket_len)
		abort();
	me.secret_key[0] = 1;
	crypto_scalarmult_base(me.public_key, me.secret_key);
	hello_init(&g, &me, h.ticket, h.ticket_len);
	hello_keys(&g, &me, h.static_key, &h, bytes, size, false, send_key, receive_key);
	hello_fini(&g);
}

static void as_key_line(const uint8_t *bytes, size_t size)
{
	char host[KEY_HOST_MAX + 1];
	uint8_t key[KEY_SIZE];
	uint32_t daemon;

	if (key_parse((const char *)bytes, size, &daemon, host, key) < 0)
		return;
	check_role(daemon);
	check_host(host);
}

/* A start that the decoder likes, so that random bytes get behind it. */
static void as_rest_of_hello(const uint8_t *data, size_t size)
{
	uint8_t bytes[HELLO_MAX + 64] = { 'K', 'E', 'E', 'L', HELLO_VERSION };
	size_t len = size < sizeof(bytes) - 5 ? size : sizeof(bytes) - 5;

	memcpy(bytes + 5, data, len);
	as_hello(bytes, 5 + len);
	bytes[5] = bytes[5] % 2 + 1;
	bytes[6] = (uint8_t)(len > 3 + 2 * KEY_SIZE ? len - 3 - 2 * KEY_SIZE : 1);
	if (len > 3 + 2 * KEY_SIZE)
		bytes[4 + len] = 0; /* no ticket, or one of a few bytes */
	for (size_t i = 7; i < 7u + bytes[6] && len > 0; i++)
		bytes[i] = (uint8_t)('a' + bytes[i] % 26);
	as_hello(bytes, 5 + len);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t *copy = malloc(size == 0 ? 1 : size); /* exact, so that a sanitizer sees overreads */

	if (copy == NULL || sodium_init() < 0) {
		free(copy);
		return 0;
	}
	if (size > 0)
		memcpy(copy, data, size);
	as_hello(copy, size);
	as_key_line(copy, size);
	as_rest_of_hello(copy, size);
	free(copy);
	return 0;
}
