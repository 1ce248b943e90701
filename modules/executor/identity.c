/* SPDX-License-Identifier: Apache-2.0
 *
 * identity.c - see identity.h.
 */
#include "identity.h"

#include <errno.h>
#include <grp.h>
#include <unistd.h>

int identity_become(uid_t uid, gid_t gid, const gid_t *groups, size_t n_groups)
{
	uid_t u[3];
	gid_t g[3];

	/* In this order: a process that has given up its uid can change no groups. */
	if (setgroups(n_groups, groups) < 0 || setresgid(gid, gid, gid) < 0 || setresuid(uid, uid, uid) < 0 ||
	    getresgid(&g[0], &g[1], &g[2]) < 0 || getresuid(&u[0], &u[1], &u[2]) < 0)
		return -errno;
	for (int i = 0; i < 3; i++)
		if (u[i] != uid || g[i] != gid)
			return -EPERM;
	if (getgroups(0, NULL) != (int)n_groups)
		return -EPERM;
	if (uid != 0 && (setuid(0) == 0 || seteuid(0) == 0 || setgroups(0, NULL) == 0))
		return -EPERM;
	return 0;
}
