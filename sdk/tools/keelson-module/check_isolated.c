/* SPDX-License-Identifier: Apache-2.0
 *
 * check_isolated.c - may the module run in a process of its own, and does it there what it does in the daemon?
 *
 * The same days are played three times: twice on the mock host, once with the module's twin, which asks a
 * keelson-modhost (twin.h). Then each tap is called with each event, what waits is ended in each way, each
 * request is asked. What it answers, what objects show and what is logged is compared line by line.
 */
#include "check_isolated.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check_calls.h"
#include "check_child.h"
#include "check_lifecycle.h"
#include "check_play.h"
#include "check_service.h"
#include "isolable.h"
#include "modfile/process.h"
#include "modhost.h"
#include "twin.h"

enum { TURNS = 100, AFTERWARDS_MS = 1000, CONFIGURATIONS = 12 };

/* ---- visits: every event at every tap ---------------------------------------------------------------- */
static void holds_write(struct play *p)
{
	const char *text;

	for (uint32_t i = 0; (text = keel_mock_hold(p->stage.mock, i)) != NULL; i++)
		keel_text_printf(&p->answers, "%s: holds %s\n", child_last_step(), text);
}

static void outcome_write(struct play *p, const struct raised *r, keel_verdict v)
{
	const struct keel_mock_outcome *o = &r->outcome;

	if (r->point->kind == KEEL_NOTE)
		return; /* nobody hears of it */
	keel_text_printf(&p->answers, "%s: ", child_last_step());
	if (v == KEEL_WAIT && !o->told)
		keel_text_str(&p->answers, "waits\n");
	else
		keel_text_printf(&p->answers, "verdict %d, code %d, '%s' by %s\n", (int)o->verdict, (int)o->code, o->text,
				 o->by);
}

static void object_write(struct play *p, const struct raised *r)
{
	const char *klass = event_klass(r->point);
	enum cast cast = flavour_cast(r->flavour);

	if (klass != NULL && p->stage.mod != NULL)
		play_show(p, klass, stage_object(&p->stage, klass, cast), stage_id(klass, cast));
}

/* Did it wait? */
static bool visit(struct play *p, const struct point *point, enum flavour f, enum ending how)
{
	struct raised *r = calloc(1, sizeof(*r));
	keel_verdict v;

	if (r == NULL)
		return false;
	*r = (struct raised){ .point = point, .flavour = f, .with = flavour_name(f) };
	v = calls_raise(&p->stage, r);
	v = play_verdict(p, v, &r->outcome);
	outcome_write(p, r, v);
	if (v == KEEL_WAIT) {
		holds_write(p);
		calls_end(&p->stage, r, how);
		for (int n = 0; n < TURNS && p->stage.mod != NULL && !r->outcome.told; n++)
			(void)keel_mock_next(p->stage.mock);
		outcome_write(p, r, v);
	} else {
		calls_go_on(&p->stage, AFTERWARDS_MS);
	}
	object_write(p, r);
	play_said(p);
	if (v != KEEL_WAIT || r->outcome.told)
		free(r); /* else it is filled when the play ends */
	return v == KEEL_WAIT;
}

/* At each point where it listens, with each flavour, each end; but only the first one when it does not wait. */
static void visits(struct play *p, enum flavour first, enum flavour last, enum ending from, enum ending to)
{
	const struct point *point;

	for (uint32_t i = 0; (point = point_at(i)) != NULL; i++)
		for (int f = (int)first; f <= (int)last && p->stage.mod != NULL; f++) {
			bool listens = keel_mock_chain(p->stage.mock, point->id)[0] != '\0';

			for (int how = (int)from; listens && how <= (int)to; how++)
				if (!visit(p, point, (enum flavour)f, (enum ending)how))
					break;
		}
}

/* False: there is no such row or body. */
static bool request(struct play *p, unsigned row, unsigned body)
{
	struct keel_mock_reply *reply = calloc(1, sizeof(*reply));

	if (reply == NULL || p->stage.mod == NULL || !calls_ask(&p->stage, row, body, reply)) {
		free(reply);
		return false;
	}
	keel_text_printf(&p->answers, "%s: %s%d '%s' %s, %u parts\n", child_last_step(), reply->told ? "" : "waits ",
			 (int)reply->code, reply->text, reply->json != NULL ? reply->json : "", reply->parts);
	play_said(p);
	if (reply->told)
		free(reply); /* else it is filled when the play ends */
	return true;
}

static void requests(struct play *p)
{
	for (unsigned row = 0; request(p, row, 0); row++)
		for (unsigned body = 1; request(p, row, body); body++)
			;
}

/* Each configuration that it takes or refuses, and what it does then. */
static void configurations(struct play *p)
{
	const struct subject *of = p->stage.of;
	const char *text;

	for (unsigned i = 0; i < CONFIGURATIONS && p->stage.mod != NULL && (text = config_allowed(of->m, i)) != NULL; i++) {
		struct keel_err err = { 0 };
		int code = keel_mock_reconf(p->stage.mod, text, &err);

		child_step("configured with %.100s", text);
		keel_text_printf(&p->answers, "%s: %s %s\n", child_last_step(), code == 0 ? "taken" : "refused", err.text);
		play_said(p);
		visits(p, USUAL, USUAL, BY_ITSELF, BY_ITSELF);
	}
	if (p->stage.mod != NULL)
		(void)keel_mock_reconf(p->stage.mod, of->conf, NULL);
	play_said(p);
}

static void play(struct play *p, const struct subject *of)
{
	play_begin(p, of);
	if (p->stage.mod == NULL)
		keel_text_printf(&p->answers, "it is refused: %s\n", p->stage.err.text);
	play_said(p);
	play_days(p);
	visits(p, MINIMAL, NEGATIVE, BY_ITSELF, BY_CLIENT);
	configurations(p);
	requests(p);
	play_cluster(p, true);
	visits(p, MINIMAL, NEGATIVE, BY_OBJECT, BY_STOP); /* after which there is nothing to go on with */
	child_step("being unloaded after some days");
	stage_unload(&p->stage);
	play_said(p);
	stage_close(&p->stage, "some days");
}

/* ---- compared ------------------------------------------------------------------------------------------- */
static void judge(const struct play *inside, const struct play *again, const struct play *own)
{
	static const char in[] = "in the daemon", out[] = "in a process";

	if (twin_unopened()[0] != '\0')
		skip(RULE_isolated_transcript, "a process of its own cannot be had here: %s", twin_unopened());
	else if (twin_watches())
		skip(RULE_isolated_transcript, "it watches file descriptors, whose times nobody can tell");
	else if (strcmp(inside->answers.data, again->answers.data) != 0 ||
		 strcmp(inside->values.data, again->values.data) != 0 ||
		 strcmp(inside->said.data, again->said.data) != 0)
		skip(RULE_isolated_transcript, "it does not do twice the same");
	else if (twin_lost()[0] != '\0')
		finding(RULE_isolated_transcript, "%s", twin_lost());
	else
		(void)(play_compare(RULE_isolated_transcript, in, &inside->answers, out, &own->answers) &&
		       play_compare(RULE_isolated_transcript, in, &inside->values, out, &own->values) &&
		       play_compare(RULE_isolated_transcript, in, &inside->said, out, &own->said));
}

static bool plays_compare(void *arg, unsigned i)
{
	struct play inside, again, own;
	struct subject twin = *(const struct subject *)arg;
	const char *why;

	(void)i;
	twin.m = twin_of(twin.path, twin.m, &why);
	if (twin.m == NULL) {
		skip(RULE_isolated_transcript, "%s", why);
		return false;
	}
	findings_mute(true);
	play(&inside, arg);
	play(&again, arg);
	play(&own, &twin);
	findings_mute(false);
	judge(&inside, &again, &own);
	play_forget(&inside);
	play_forget(&again);
	play_forget(&own);
	return false;
}

/* ---- the group ------------------------------------------------------------------------------------------ */
/* Why the same is not to be expected; NULL: it is. */
static const char *why_not(const struct modfile_module *m, bool sound, char buf[WORDS_MAX])
{
	if (why_inside(m, buf) != NULL)
		return buf;
	for (uint32_t n = 0; n < m->head.n_needs; n++) {
		if (!is_group(m->needs[n].group) || process_has_group(m->needs[n].group))
			continue;
		snprintf(buf, WORDS_MAX, "it may use the group %.63s, which a process of its own has not", m->needs[n].group);
		return buf;
	}
	if (!sound)
		return "other rules are broken";
	return modhost_is_installed() ? NULL : "keelson-modhost is not installed beside keelson-module";
}

void check_isolated(const struct subject *s, bool must, bool sound)
{
	char why[MODFILE_WHY_MAX], words[WORDS_MAX];
	struct modfile_module *m = modfile_read(s->path, why);
	const char *inside = m == NULL ? why : why_inside(m, words), *none;
	struct subject without = *s;

	if (must)
		look(RULE_isolated_possible);
	if (must && inside != NULL)
		finding(RULE_isolated_possible, "%s", inside);
	none = m == NULL ? why : why_not(m, sound, words);
	modfile_module_free(m);
	if (none != NULL) {
		skip(RULE_isolated_transcript, "%s", none);
		return;
	}
	look(RULE_isolated_transcript);
	without.optional = false; /* services stay in the daemon */
	child_cases(plays_compare, &without, RULE_isolated_transcript, RULE_isolated_transcript);
}
