/* SPDX-License-Identifier: Apache-2.0
 *
 * keelson-resolve NAME - exit 0: one of the name's addresses belongs to an interface of this host; 1: none does.
 *
 * A program of its own, because a name server may take long to answer, and names are given by users.
 */
#include <ifaddrs.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <string.h>

#include "program/version_word.h"

static bool address_equal(const struct sockaddr *a, const struct sockaddr *b)
{
	if (a->sa_family != b->sa_family)
		return false;
	if (a->sa_family == AF_INET)
		return ((const struct sockaddr_in *)(const void *)a)->sin_addr.s_addr ==
		       ((const struct sockaddr_in *)(const void *)b)->sin_addr.s_addr;
	if (a->sa_family == AF_INET6)
		return memcmp(&((const struct sockaddr_in6 *)(const void *)a)->sin6_addr,
			      &((const struct sockaddr_in6 *)(const void *)b)->sin6_addr, 16) == 0;
	return false;
}

int main(int argc, char **argv)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM }, *found = NULL;
	struct ifaddrs *own = NULL;
	bool here = false;

	if (version_word(argc, argv))
		return 0;
	if (argc != 2 || getaddrinfo(argv[1], NULL, &hints, &found) != 0 || getifaddrs(&own) != 0)
		return 1;
	for (struct addrinfo *a = found; a && !here; a = a->ai_next)
		for (struct ifaddrs *i = own; i && !here; i = i->ifa_next)
			here = i->ifa_addr && address_equal(a->ai_addr, i->ifa_addr);
	freeifaddrs(own);
	freeaddrinfo(found);
	return here ? 0 : 1;
}
