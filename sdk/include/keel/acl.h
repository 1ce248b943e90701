/* SPDX-License-Identifier: Apache-2.0
 *
 * keel/acl.h - does an access list admit a user, a group or a host? Header only.
 *
 * An entry is `[+|-]name[@host]`, or `[+|-]host` in a list of hosts; a host may be `*` or `*.domain`. Of
 * the entries that fit, the one that says most about the host counts; `-` denies. Nothing fits: denied,
 * unless a bare `+` is in the list.
 */
#ifndef KEEL_ACL_H
#define KEEL_ACL_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <strings.h>

struct keel_acl {
	const char *name; /* whom it is about; NULL: a list of hosts */
	const char *host;
	int best;     /* how much the entry that counts says; below 0: none fits */
	bool allowed; /* the answer */
};
#define KEEL_ACL(whose, at) ((struct keel_acl){ .name = (whose), .host = (at), .best = -1 })

/* How much a host pattern says about `host` when it fits it; -1 it does not. */
static inline int keel_acl_host(const char *pattern, size_t len, const char *host)
{
	size_t have = strlen(host);

	if (len > 0 && *pattern == '*')
		return have >= len - 1 && strncasecmp(host + have - (len - 1), pattern + 1, len - 1) == 0
			       ? (int)len
			       : -1;
	return have == len && strncasecmp(host, pattern, len) == 0 ? 1024 + (int)len : -1;
}

static inline int keel_acl_fits(const struct keel_acl *s, const char *entry, size_t len)
{
	const char *at = (const char *)memchr(entry, '@', len);
	size_t name = at ? (size_t)(at - entry) : len;

	if (!s->name)
		return keel_acl_host(entry, len, s->host);
	if (strlen(s->name) != name || strncmp(s->name, entry, name) != 0)
		return -1;
	return at ? keel_acl_host(at + 1, len - name - 1, s->host) : 0;
}

static inline void keel_acl_entry(struct keel_acl *s, const char *entry, size_t len)
{
	bool allow = len == 0 || *entry != '-';
	int fits;

	if (len > 0 && (*entry == '+' || *entry == '-')) {
		entry++;
		len--;
	}
	if (len == 0) { /* a bare sign is what counts where nothing fits */
		s->allowed = s->best < 0 ? allow : s->allowed;
		return;
	}
	fits = keel_acl_fits(s, entry, len);
	if (fits < 0 || fits < s->best)
		return;
	s->best = fits;
	s->allowed = allow;
}

/* A comma list of entries; the function of a keel_emit, with a struct keel_acl as its argument. */
static inline void keel_acl_text(void *acl, const char *key, const char *text, unsigned len)
{
	const char *end = text + len;

	(void)key;
	while (text < end) {
		const char *comma = (const char *)memchr(text, ',', (size_t)(end - text));
		size_t n = (size_t)((comma ? comma : end) - text);

		if (n > 0)
			keel_acl_entry((struct keel_acl *)acl, text, n);
		text += n + 1;
	}
}

/* Is user@host the one who owns something, as `owner` says: user@host? On the owner's host and on the server's, `here`; with
 * `flat` (the server's flatuid) one name is one user on all hosts. */
static inline bool keel_acl_is_owner(const char *owner, const char *user, const char *host, const char *here, bool flat)
{
	const char *at = strchr(owner, '@');
	size_t len = at ? (size_t)(at - owner) : strlen(owner);

	if (strlen(user) != len || memcmp(user, owner, len) != 0)
		return false;
	return !at || flat || strcasecmp(host, at + 1) == 0 || strcasecmp(host, here) == 0;
}

/* Is `host` the first one of a job, where its script runs, as its exec_host says: h1/0*2+h2/0? */
static inline bool keel_acl_runs_on(const char *exec_host, const char *host)
{
	size_t len = strlen(host);

	return len > 0 && strncasecmp(exec_host, host, len) == 0 && exec_host[len] == '/';
}

/* The owner of a job, in its script as well. `exec_host` may be NULL. */
static inline bool keel_acl_is_job_owner(const char *owner, const char *exec_host, const char *user, const char *host,
					 const char *here, bool flat)
{
	return keel_acl_is_owner(owner, user, host, here, flat) ||
	       (exec_host && keel_acl_is_owner(owner, user, host, here, true) && keel_acl_runs_on(exec_host, host));
}

/* Does a list of roots, of which `acl` is the answer for root at `host`, mean that root? One without a host is the root of
 * the server's, `here`. */
static inline bool keel_acl_is_root(const struct keel_acl *acl, const char *host, const char *here)
{
	return acl->allowed && (acl->best > 0 || strcasecmp(host, here) == 0);
}

#endif
