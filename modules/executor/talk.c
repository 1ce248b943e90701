/* SPDX-License-Identifier: Apache-2.0
 *
 * talk.c - see talk.h.
 */
#include "talk.h"

#include <stdio.h>
#include <sys/socket.h>

/* By descriptor: a path of ours may be longer than an address. */
void talk_address(struct sockaddr_un *ret, int dir_fd, int pid)
{
	*ret = (struct sockaddr_un){ .sun_family = AF_UNIX };
	snprintf(ret->sun_path, sizeof(ret->sun_path), "/proc/self/fd/%d/%d.SK", dir_fd, pid);
}
