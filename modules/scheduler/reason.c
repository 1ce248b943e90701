/* SPDX-License-Identifier: Apache-2.0
 *
 * reason.c - why a job does not start, in the words users know.
 */
#include "spans.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

/* `n`: as long as it would be. */
static void text_ends(struct reason *r, int n)
{
	if (n > REASON_MAX)
		strcpy(r->text + REASON_MAX - 3, "...");
}

void reason_set(struct reason *r, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	text_ends(r, vsnprintf(r->text, sizeof(r->text), fmt, ap));
	va_end(ap);
	r->code = 0;
	r->from = 0;
	r->what[0] = '\0';
}

void reason_why(struct reason *r, int32_t code, ...)
{
	const char *fmt = keel_why_text(code);
	va_list ap;

	va_start(ap, code);
	text_ends(r, vsnprintf(r->text, sizeof(r->text), fmt ? fmt : "unknown reason", ap));
	va_end(ap);
	r->code = code;
	r->from = 0;
	r->what[0] = '\0';
}

static void about(struct reason *r, const struct keel_resource *res)
{
	snprintf(r->what, sizeof(r->what), "%s", res->name);
}

/* Sizes in the biggest unit without a remainder, at least kb. */
static void size_text(double n, char *buf, size_t len)
{
	static const char *const units[] = { "kb", "mb", "gb", "tb", "pb" };
	size_t i = 0;

	n = ceil(n / 1024);
	while (n > 0 && i < 4 && fmod(n, 1024) == 0) {
		n /= 1024;
		i++;
	}
	snprintf(buf, len, "%.0f%s", n, units[i]);
}

static void amount_text(const struct keel_resource *res, double n, char *buf, size_t len)
{
	size_t end;

	if (n < 0)
		n = 0;
	if (res->type == KEEL_RES_SIZE) {
		size_text(n, buf, len);
	} else if (res->type == KEEL_RES_TIME) {
		snprintf(buf, len, "%02.0f:%02.0f:%02.0f", floor(n / 3600), floor(fmod(n, 3600) / 60),
			 fmod(n, 60));
	} else if (n == floor(n)) {
		snprintf(buf, len, "%.0f", n);
	} else {
		snprintf(buf, len, "%.6f", n);
		for (end = strlen(buf); end && buf[end - 1] == '0'; end--)
			buf[end - 1] = '\0';
	}
}

void reason_amount(struct reason *r, int32_t code, const struct keel_resource *res, double wanted,
		   double have, double total)
{
	char text[3][48], detail[200];

	amount_text(res, wanted, text[0], sizeof(text[0]));
	amount_text(res, have, text[1], sizeof(text[1]));
	amount_text(res, total, text[2], sizeof(text[2]));
	snprintf(detail, sizeof(detail), "(R: %s A: %s T: %s)", text[0], text[1], text[2]);
	reason_why(r, code, res->name, detail);
	about(r, res);
}

static const char *plain_text(const struct keel_res_value *v)
{
	if (v->res->type == KEEL_RES_BOOL)
		return v->n != 0 ? "True" : "False";
	return v->text ? v->text : "";
}

void reason_differs(struct reason *r, int32_t code, const struct keel_res_value *wanted,
		    const struct keel_res_value *have)
{
	const char *other = have ? plain_text(have)
			    : wanted->res->type == KEEL_RES_BOOL ? "False" : "";
	char detail[REASON_MAX + 1];

	if (wanted->res->type < KEEL_RES_BOOL) {
		reason_amount(r, code, wanted->res, wanted->n, have ? have->n : 0,
			      have ? have->n : 0);
		return;
	}
	snprintf(detail, sizeof(detail), "(%s != %s)", plain_text(wanted), other);
	reason_why(r, code, wanted->res->name, detail);
	about(r, wanted->res);
}

void reason_block(struct reason *r, const struct block *b)
{
	time_t from = b ? (time_t)b->from : 0;
	char when[64] = "";
	struct tm tm;
	size_t n;

	reason_why(r, KEEL_WHY_CONFLICT);
	if (!b || !localtime_r(&from, &tm) || !strftime(when, sizeof(when), "%a %b %e %H:%M", &tm))
		return;
	n = strlen(r->text);
	text_ends(r, (int)n + snprintf(r->text + n, sizeof(r->text) - n, " (%s from %s)", b->id, when));
	snprintf(r->what, sizeof(r->what), "%s", b->id);
	r->from = b->from;
}

void reason_short(struct reason *r, int32_t code, const struct keel_resource *res)
{
	reason_why(r, code, res->name, "");
	about(r, res);
}
