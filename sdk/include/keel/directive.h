/* SPDX-License-Identifier: Apache-2.0
 *
 * keel/directive.h - values of directives of mom_priv/config (kind MOM_DIRECTIVE), for check() and apply() of a row.
 */
#ifndef KEEL_DIRECTIVE_H
#define KEEL_DIRECTIVE_H

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "keel/core.h"

/* An integer of that range, decimal or 0x. 0 with *ret (may be NULL), or -EINVAL with *err. */
static inline int32_t keel_directive_number(const char *value, int64_t min, int64_t max, int64_t *ret, struct keel_err *err)
{
	char *end;
	long long n;

	errno = 0;
	n = strtoll(value, &end, value[0] == '0' && (value[1] == 'x' || value[1] == 'X') ? 16 : 10);
	if (end == value || *end || errno || n < min || n > max)
		return keel_error(err, -EINVAL, "\"%.80s\" is no number from %lld to %lld", value, (long long)min, (long long)max);
	if (ret)
		*ret = n;
	return 0;
}

/* yes, true, on, 1; no, false, off, 0. 0 with *ret (may be NULL), or -EINVAL with *err. */
static inline int32_t keel_directive_bool(const char *value, bool *ret, struct keel_err *err)
{
	static const char *const words[] = { "no", "yes", "false", "true", "off", "on", "0", "1" };

	for (unsigned i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strcasecmp(value, words[i]) == 0) {
			if (ret)
				*ret = i % 2 == 1;
			return 0;
		}
	return keel_error(err, -EINVAL, "\"%.80s\" is neither yes, true, on, 1 nor no, false, off, 0", value);
}

/* One path that begins with a slash. */
static inline int32_t keel_directive_path(const char *value, struct keel_err *err)
{
	if (*value == '/' && !strpbrk(value, " \t"))
		return 0;
	return keel_error(err, -EINVAL, "\"%.80s\" is no absolute path", value);
}

#endif
