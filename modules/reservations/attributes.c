/* SPDX-License-Identifier: Apache-2.0
 *
 * attributes.c - class "resv": its rows, their types and checks; attributes of the server and of jobs.
 */
#include "reservations.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "keel/type.h"

KEEL_ATTRS_OF(server, reserve_retry_time, reserve_retry_init);
KEEL_ATTR_OF(job, reserve_ID);
KEEL_ATTR_OF(resv, Reserve_Name);

const struct keel_class_def resv_class = {
	.size = sizeof(struct keel_class_def),
	.flags = KEEL_CLASS_SAVE | KEEL_CLASS_SUFFIX,
	.name = "resv",
	.doc = "a reservation",
	.known_point = KEEL_POINT_resv_known,
};

#define NAME_LEN_MAX 230
#define PRIORITY_MAX 1024

/* ---- types --------------------------------------------------------------------------------------------------------- */

static const char *const state_names[] = {
	"RESV_NONE",	 "RESV_UNCONFIRMED",  "RESV_CONFIRMED", "RESV_WAIT",	      "RESV_TIME_TO_RUN",
	"RESV_RUNNING",	 "RESV_FINISHED",     "RESV_BEING_DELETED", "RESV_DELETED", "RESV_DELETING_JOBS",
	"RESV_DEGRADED", "RESV_BEING_ALTERED", "RESV_IN_CONFLICT",
};

/* A number, or its name. Below 0: it is none. */
static int64_t state_number(const char *text)
{
	char *end;
	long n = strtol(text, &end, 10);

	if (end != text && !*end)
		return n >= 0 && n < (long)KEEL_COUNT(state_names) ? n : -1;
	for (size_t i = 0; i < KEEL_COUNT(state_names); i++)
		if (strcmp(state_names[i], text) == 0)
			return (int64_t)i;
	return -1;
}

static int32_t bad_value(const struct keel_attr *attr, struct keel_err *err)
{
	return keel_error(err, PBSE_BADATVAL, "%s %s", keel_pbse_text(PBSE_BADATVAL), keel_attr_name(attr));
}

static int32_t state_parse(struct keel_mod *mod, const struct keel_attr *attr, int32_t op, const char *key,
			   const char *text, union keel_slot *slot, bool *is_set, struct keel_err *err)
{
	int64_t n = state_number(text);

	(void)mod, (void)op, (void)key;
	if (n < 0)
		return bad_value(attr, err);
	slot->i = n;
	*is_set = true;
	return 0;
}

static void state_format(struct keel_mod *mod, const union keel_slot *slot, const char *key, const struct keel_emit *emit)
{
	(void)mod, (void)key;
	keel_emit_text(emit, slot->i >= 0 && slot->i < (int64_t)KEEL_COUNT(state_names) ? state_names[slot->i] : "RESV_NONE");
}

static int32_t compare(int64_t have, int32_t op, int64_t with)
{
	switch (op) {
	case KEEL_NE: return have != with;
	case KEEL_GE: return have >= with;
	case KEEL_GT: return have > with;
	case KEEL_LE: return have <= with;
	case KEEL_LT: return have < with;
	default: return have == with;
	}
}

static int32_t state_match(struct keel_mod *mod, const union keel_slot *slot, bool is_set, int32_t op, const char *key,
			   const char *text, struct keel_err *err)
{
	int64_t n = state_number(text);

	(void)mod, (void)key;
	if (n < 0)
		return -keel_error(err, PBSE_BADATVAL, "%s reserve_state", keel_pbse_text(PBSE_BADATVAL));
	return is_set ? compare(slot->i, op, n) : op == KEEL_NE;
}

const struct keel_type_def resv_state_type = {
	.size = sizeof(struct keel_type_def),
	.flags = KEEL_TYPE_INT,
	.name = "resv_state",
	.doc = "RESV_CONFIRMED, or its number",
	.parse = state_parse,
	.format = state_format,
	.match = state_match,
	KEEL_TYPE_OF_INT,
};

/* `1:30`, `90` or `90.5`: whole seconds. Below 0: it is none. */
static int64_t seconds_number(const char *text)
{
	int64_t all = 0, part;
	char *end;
	int parts = 0;

	do {
		if (*text < '0' || *text > '9' || ++parts > 3)
			return -1;
		part = strtoll(text, &end, 10);
		if (part > TIME_LIMIT || all > TIME_LIMIT / 60)
			return -1;
		all = all * 60 + part;
		text = end + 1;
	} while (*end == ':');
	if (*end == '.') /* parts of a second are not counted */
		end += 1 + strspn(end + 1, "0123456789");
	return *end || all > TIME_LIMIT ? -1 : all;
}

static int32_t seconds_parse(struct keel_mod *mod, const struct keel_attr *attr, int32_t op, const char *key,
			     const char *text, union keel_slot *slot, bool *is_set, struct keel_err *err)
{
	int64_t n = seconds_number(text);

	(void)mod, (void)op, (void)key;
	if (n < 0)
		return bad_value(attr, err);
	slot->i = n;
	*is_set = true;
	return 0;
}

static void seconds_format(struct keel_mod *mod, const union keel_slot *slot, const char *key,
			   const struct keel_emit *emit)
{
	char text[24];

	(void)mod, (void)key;
	snprintf(text, sizeof(text), "%lld", (long long)slot->i);
	keel_emit_text(emit, text);
}

static int32_t seconds_match(struct keel_mod *mod, const union keel_slot *slot, bool is_set, int32_t op, const char *key,
			     const char *text, struct keel_err *err)
{
	int64_t n = seconds_number(text);

	(void)mod, (void)key;
	if (n < 0)
		return -keel_error(err, PBSE_BADATVAL, "%s reserve_duration", keel_pbse_text(PBSE_BADATVAL));
	return is_set ? compare(slot->i, op, n) : op == KEEL_NE;
}

const struct keel_type_def resv_seconds_type = {
	.size = sizeof(struct keel_type_def),
	.flags = KEEL_TYPE_INT,
	.name = "resv_seconds",
	.doc = "a duration, shown as a number of seconds",
	.parse = seconds_parse,
	.format = seconds_format,
	.match = seconds_match,
	KEEL_TYPE_OF_INT,
};

/* ---- checks --------------------------------------------------------------------------------------------------------- */

/* The arguments of every check function, of which few are needed. */
#define CHECK(name)                                                                                                    \
	static int32_t name(struct keel_mod *mod, const struct keel_session *who, struct keel_obj *obj, int32_t op,    \
			    const char *key, const char *text, struct keel_err *err)
#define UNUSED (void)mod, (void)who, (void)obj, (void)op, (void)key, (void)text, (void)err

static int32_t illegal(const char *name, struct keel_err *err)
{
	return keel_error(err, PBSE_BADATVAL, "%s %s", keel_pbse_text(PBSE_BADATVAL), name);
}

/* Text that other programs print must be one line of printable bytes. */
bool is_line(const char *text)
{
	const unsigned char *p = (const unsigned char *)text;

	while (*p >= ' ' && *p != 0x7f)
		p++;
	return !*p;
}

CHECK(check_line)
{
	UNUSED;
	return is_line(text) ? 0 : illegal("value: control character", err);
}

CHECK(check_name)
{
	UNUSED;
	if (strlen(text) > NAME_LEN_MAX)
		return keel_error(err, PBSE_JOBNBIG, "%s Reserve_Name", keel_pbse_text(PBSE_JOBNBIG));
	return *text && is_line(text) && !strchr(text, ' ') ? 0 : illegal("Reserve_Name", err);
}

/* A moment, as seconds since 1970. */
CHECK(check_moment)
{
	char *end;
	long long n = strtoll(text, &end, 10);

	UNUSED;
	return end != text && !*end && n >= 0 && n <= TIME_LIMIT
		       ? 0
		       : keel_error(err, PBSE_BADTSPEC, "%s", keel_pbse_text(PBSE_BADTSPEC));
}

CHECK(check_duration)
{
	UNUSED;
	return seconds_number(text) >= 0 ? 0 : illegal("reserve_duration", err);
}

CHECK(check_points)
{
	UNUSED;
	return strcmp(text, "n") == 0 || (*text && strspn(text, "abce") == strlen(text)) ? 0 : illegal("Mail_Points", err);
}

CHECK(check_priority)
{
	long n = strtol(text, NULL, 10);

	UNUSED;
	return n < -PRIORITY_MAX || n > PRIORITY_MAX ? illegal("Priority", err) : 0;
}

/* An entry of a list, in the caller's text. */
struct entry {
	const char *at;
	size_t len;
};

static int by_text(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;
	const int order = memcmp(x->at, y->at, x->len < y->len ? x->len : y->len);

	return order ? order : (x->len > y->len) - (x->len < y->len);
}

static uint32_t entries_of(const char *text, struct entry *entry)
{
	uint32_t n = 0;

	for (const char *at = text; *at; at += entry[n].len, at += *at == ',', n++)
		entry[n] = (struct entry){ at, strcspn(at, ",") };
	return n;
}

static bool is_twice(struct entry *entry, uint32_t n)
{
	uint32_t i = 1;

	qsort(entry, n, sizeof(*entry), by_text);
	while (i < n && by_text(&entry[i - 1], &entry[i]))
		i++;
	return i < n;
}

/* No entry stands twice. */
CHECK(check_list)
{
	struct entry *entry;
	size_t most = 1;
	int32_t code = 0;

	UNUSED;
	if (!is_line(text))
		return illegal("list: control character", err);
	if (strlen(text) > LIST_LEN_MAX)
		return illegal("list: too long", err);
	for (const char *p = text; (p = strchr(p, ',')); p++)
		most++;
	entry = calloc(most, sizeof(*entry));
	if (!entry)
		return keel_error(err, PBSE_SYSTEM, "System error: out of memory");
	if (is_twice(entry, entries_of(text, entry)))
		code = keel_error(err, PBSE_DUPLIST, "%s", keel_pbse_text(PBSE_DUPLIST));
	free(entry);
	return code;
}

/* Amounts that the system computes, and those that a site lets users only see. */
CHECK(check_resources)
{
	const struct keel_resource *res = who && key ? keel_resource_find(key) : NULL;
	uint32_t closed = KEEL_RES_SYSTEM;

	UNUSED;
	if (!res)
		return 0;
	if (!is_line(text))
		return illegal("Resource_List: control character", err);
	if (op != KEEL_UNSET && (strcmp(key, "min_walltime") == 0 || strcmp(key, "max_walltime") == 0))
		return keel_error(err, PBSE_NOSTF_RESV, "%s", keel_pbse_text(PBSE_NOSTF_RESV));
	if (!(who->roles & KEEL_OPERATORS))
		closed |= KEEL_RES_READONLY | KEEL_RES_INVISIBLE;
	return res->flags & closed
		       ? keel_error(err, PBSE_ATTRRO, "%s Resource_List.%s", keel_pbse_text(PBSE_ATTRRO), key)
		       : 0;
}

/* ---- of the server ----------------------------------------------------------------------------------------------------- */

CHECK(check_retry)
{
	long long n = strtoll(text, NULL, 10);

	UNUSED;
	return n > 0 && n <= INT32_MAX ? 0 : keel_error(err, PBSE_BADATVAL, "%s", keel_pbse_text(PBSE_BADATVAL));
}

CHECK(check_post)
{
	int64_t n = seconds_number(text);

	UNUSED;
	return n >= 0 && n <= INT32_MAX ? 0 : keel_error(err, PBSE_BADATVAL, "%s", keel_pbse_text(PBSE_BADATVAL));
}

/* The old name: setting it sets the other, too. */
static void retry_init_changed(struct keel_mod *mod, struct keel_obj *server, const struct keel_attr *attr)
{
	(void)mod;
	if (keel_is_set(server, attr))
		keel_set_int(server, server_reserve_retry_time, keel_get_int(server, attr));
}

static void retry_time_changed(struct keel_mod *mod, struct keel_obj *server, const struct keel_attr *attr)
{
	(void)mod;
	if (keel_is_set(server, server_reserve_retry_init) &&
	    keel_get_int(server, server_reserve_retry_init) != keel_get_int(server, attr))
		keel_unset(server, server_reserve_retry_init, NULL);
}

/* ---- of jobs ------------------------------------------------------------------------------------------------------------- */

/* For records: the name of its reservation, as it is now. */
static void derive_name(struct keel_mod *mod, struct keel_obj *job, const struct keel_emit *emit)
{
	const char *id = keel_get_str(job, job_reserve_ID);
	struct keel_obj *resv = id ? keel_find(mod, "resv", id) : NULL;
	const char *name = resv ? keel_get_str(resv, resv_Reserve_Name) : NULL;

	if (id)
		keel_emit_text(emit, name ? name : "NULL");
}

const struct keel_attr_def job_attr_reserve_ID =
	KEEL_ATTR_DEF("job", "reserve_ID", "string", .order = 575, .flags = KEEL_ATTR_SAVE, .read_roles = KEEL_EVERYBODY,
		      .doc = "the reservation that it runs in");
const struct keel_attr_def job_attr_reserve_name =
	KEEL_ATTR_DEF("job", "reserve_name", "string", .order = 951, .derive = derive_name, .doc = "its name");
const struct keel_acct_item_def item_name = { .size = sizeof(struct keel_acct_item_def), .place = -20, .name = "resvname",
					      .doc = "name of its reservation", .attr = "reserve_name" };
const struct keel_acct_item_def item_id = { .size = sizeof(struct keel_acct_item_def), .place = -10, .name = "resvID",
					    .doc = "its reservation", .attr = "reserve_ID" };

#define S KEEL_ATTR_SAVE
#define C KEEL_ATTR_CREATE
#define T KEEL_ATTR_RESET
#define ALL KEEL_EVERYBODY
#define MGR KEEL_MANAGERS
#define NONE KEEL_NOBODY
#define RESV(attr, type_name, place, flag_bits, readers, writers, value, words, ...)                                   \
	const struct keel_attr_def resv_attr_##attr =                                                                  \
		KEEL_ATTR_DEF("resv", #attr, type_name, .order = (place), .flags = (flag_bits), .read_roles = (readers), \
			      .write_roles = (writers), .fallback = (value), .doc = (words), ##__VA_ARGS__);
#include "resv.def"
#undef RESV
#define SERVER(attr, type_name, place, flag_bits, readers, writers, value, words, ...)                                 \
	const struct keel_attr_def server_attr_##attr =                                                                \
		KEEL_ATTR_DEF("server", #attr, type_name, .order = (place), .flags = (flag_bits), .read_roles = (readers), \
			      .write_roles = (writers), .fallback = (value), .doc = (words), ##__VA_ARGS__);
#include "server.def"
#undef SERVER
