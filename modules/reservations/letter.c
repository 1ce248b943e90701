/* SPDX-License-Identifier: Apache-2.0
 *
 * letter.c - mail to the people of a reservation, where there is a module that sends it.
 */
#include "reservations.h"

#include <string.h>

#include "keel/service/mail.h"
#include "keel/text.h"

KEEL_USE_OPT(mail);
KEEL_ATTRS_OF(resv, Mail_Points, Mail_Users, Reserve_Owner, Reserve_Name);

#define USUAL_POINTS "ac"

static const struct {
	char point;
	const char *words;
} headings[] = {
	{ 'a', "Reservation deleted" },
	{ 'b', "Reservation begins" },
	{ 'c', "Reservation confirmed" },
	{ 'e', "Reservation is over" },
};

static const char *heading(char point)
{
	for (size_t i = 0; i < KEEL_COUNT(headings); i++)
		if (headings[i].point == point)
			return headings[i].words;
	return "";
}

static bool is_wanted(struct keel_obj *resv, char point)
{
	const char *points = keel_get_str(resv, resv_Mail_Points);

	return strchr(points ? points : USUAL_POINTS, point) != NULL;
}

void letter_send(struct keel_mod *mod, struct keel_obj *resv, char point, const char *text)
{
	const char *to = keel_get_str(resv, resv_Mail_Users), *name = keel_get_str(resv, resv_Reserve_Name);
	struct keel_text body;
	char subject[300];

	(void)mod;
	if (!keel_has(mail) || !is_wanted(resv, point))
		return;
	snprintf(subject, sizeof(subject), "PBS RESERVATION %s", keel_id(resv));
	keel_text_init(&body);
	keel_text_printf(&body, "PBS Reservation Id: %s\nReservation Name:   %s\n%s", keel_id(resv), name ? name : "NULL",
			 heading(point));
	if (text && *text)
		keel_text_printf(&body, "\n%s", text);
	if (!body.failed)
		keel_mail_send(&(struct keel_letter){ .size = sizeof(struct keel_letter),
						      .about = keel_id(resv),
						      .to = to && *to ? to : keel_get_str(resv, resv_Reserve_Owner),
						      .subject = subject,
						      .body = body.data });
	keel_text_fini(&body);
}
