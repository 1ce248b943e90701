/* SPDX-License-Identifier: Apache-2.0
 *
 * test_agree.c - the same stories in the daemon's engine and in the mock: what is logged, told and answered
 * must be the same, word for word.
 */
#include <stdlib.h>
#include <string.h>

#include "harness.h"
#include "keel/keel.h"
#include "mock/story.h"

#define ONE "load alpha\njob 1.svr\n"
#define THREE "load beta\nload alpha\nload gamma\njob 1.svr\n"

/* ---- verdicts ------------------------------------------------------------------------------------------- */
static void test_verdicts(void)
{
	static const char *const words[] = { "done", "reject", "reject-bare", "fail", "fail-bare", "odd", "answer",
					     "set", "set-wrong", "note", "nest", "hold-nothing", "hold-silent",
					     "hold-wrong", "hold-now", "release", "who" };
	static const char *const at[] = { "job_submit", "job_modify", "job_hold", "job_delete", "plan_time" };
	char story[512];

	for (size_t i = 0; i < KEEL_COUNT(words); i++) {
		for (size_t j = 0; j < KEEL_COUNT(at); j++) {
			if (strcmp(words[i], "release") == 0 || (strcmp(words[i], "nest") == 0 && j == 3))
				continue;
			snprintf(story, sizeof(story),
				 THREE "set 1.svr gamma_do = %s\nraise %s 1.svr\nraise %s 1.svr\n"
				       "wait 0\nshow 1.svr Priority\nwait 10000\n",
				 words[i], at[j], at[j]);
			agree(story, "done ");
		}
	}
}

static void test_order(void)
{
	agree(THREE "raise job_submit 1.svr\nraise job_delete 1.svr\nunload gamma\nraise job_submit 1.svr\n",
	      "Probe;1.svr;alpha: job_submit \nProbe;1.svr;gamma: job_submit \nProbe;1.svr;beta: job_submit \n");
	agree("load alpha\ntap job_submit one 5\ntap job_submit two 15\ntap job_submit one 5\njob 1.svr\n"
	      "raise job_submit 1.svr\nuntap job_submit one\nraise job_submit 1.svr\ntapped job_submit\n"
	      "tapped job_move\n",
	      "already");
}

static void test_changes(void)
{
	agree(THREE "set 1.svr beta_do = set\nalter job_submit 1.svr\nshow 1.svr Name\nshow 1.svr Priority\n",
	      "1.svr.Name is altered");
	agree(THREE "set 1.svr alpha_do = set\nset 1.svr beta_do = reject\nalter job_submit 1.svr\n"
		    "show 1.svr Name\nshow 1.svr Priority\n",
	      "1.svr.Priority is 1 ");
	agree(ONE "set 1.svr alpha_do = hold\nalter job_submit 1.svr\nshow 1.svr Name\nwait 2000\nshow 1.svr Name\n",
	      "1.svr.Name is  (-61)");
	agree(ONE "alter job_move 1.svr\nshow 1.svr Name\n", "1.svr.Name is altered");
}

static void test_folds_and_notes(void)
{
	agree(THREE "fold job_rank 1.svr\nfold job_explain 1.svr\nset 1.svr beta_do = fail\nfold job_rank 1.svr\n"
		    "set 1.svr beta_do = reject\nfold job_explain 1.svr\nfold job_submit 1.svr\n",
	      "job_explain of 1.svr: 0 [alpha beta gamma]");
	agree(THREE "note job_queued 1.svr\nnote job_queued 2.svr\nset 1.svr alpha_do = note\n"
		    "raise job_submit 1.svr\nnote job_purged 1.svr\n",
	      "noted\nProbe;1.svr;gamma: job_submit");
	agree(THREE "set 1.svr alpha_do = nest\nset 1.svr beta_do = reject\nraise job_submit 1.svr\n", "nested 2 15016 [beta says no to 1.svr]");
	agree(ONE "set 1.svr alpha_do = deep\nraise job_submit 1.svr\n", "nested too deeply");
}

/* ---- holds ---------------------------------------------------------------------------------------------- */
static void test_holds(void)
{
	agree(ONE "set 1.svr alpha_do = hold\nraise job_submit 1.svr\nholds 1.svr\nwait 1999\nholds 1.svr\nwait 1\n",
	      "cancel 1");
	agree(ONE "set 1.svr alpha_do = hold-timer\nraise job_submit 1.svr\nwait 499\nwait 1\n", "resume go");
	agree(ONE "set 1.svr alpha_do = hold-default\nraise job_submit 1.svr\nholds 1.svr\nwait 60000\n",
	      "(0s of 60s)");
	agree(ONE "set 1.svr alpha_do = hold-until\nraise job_submit 1.svr\ntapped job_purged\nnote job_purged 2.svr\n"
		  "wait 0\nset 1.svr alpha_do = none\nnote job_purged 1.svr\nwait 0\n",
	      "done 0 0");
	agree(ONE "set 1.svr alpha_do = hold-reject\nraise job_submit 1.svr\nnote job_purged 1.svr\nwait 0\n",
	      "done 2 15014 [alpha rejects late] by alpha.on_job_submit");
	agree(ONE "set 1.svr alpha_do = hold-fail\nraise job_submit 1.svr\nnote job_purged 1.svr\nwait 0\n",
	      "alpha broke late");
	agree(ONE "set 1.svr alpha_do = hold-forget\nraise job_submit 1.svr\nnote job_purged 1.svr\nwait 0\n",
	      "took no hold");
	agree(ONE "set 1.svr alpha_do = hold-again\nraise job_submit 1.svr\nnote job_purged 1.svr\nwait 0\n"
		  "holds 1.svr\nwait 3000\n",
	      "once more");
	agree(ONE "set 1.svr alpha_do = hold-two\nraise job_submit 1.svr\nholds 1.svr\nnote job_purged 9.svr\nwait 0\n"
		  "holds 1.svr\nwait 5000\n",
	      "the first");
	agree(ONE "set 1.svr alpha_do = hold-until\nraise plan_time 1.svr\nnote job_purged 1.svr\nwait 0\n", "done 0");
	agree(ONE "set 1.svr alpha_do = hold\nfold job_rank 1.svr\nnote job_purged 1.svr\n", "cannot wait");
}

static void test_ends_of_holds(void)
{
	agree(ONE "client\nset 1.svr alpha_do = hold-until\nraise job_submit 1.svr\ngone\nwait 0\n", "cancel 2");
	agree(ONE "set 1.svr alpha_do = hold-until\nraise job_submit 1.svr\ndestroy 1.svr\nnote job_purged 1.svr\n"
		  "wait 0\n",
	      "cancel 3");
	agree(ONE "set 1.svr alpha_do = hold-until\nraise job_submit 1.svr\nunload alpha\n", "cancel 4");
	agree(THREE "set 1.svr alpha_do = hold-until\nset 1.svr beta_do = done\nraise job_modify 1.svr\nunload alpha\n",
	      "beta: job_modify done");
	agree(THREE "set 1.svr alpha_do = hold\nset 1.svr beta_do = hold\nraise job_modify 1.svr\nwait 2000\n"
		    "holds 1.svr\nwait 2000\n",
	      "beta: it was told to");
	agree(ONE "draft 2.svr\nset 2.svr alpha_do = hold-until\nraise job_submit 2.svr\nnote job_purged 2.svr\nwait 0\n"
		  "publish\nlist\n",
	      "there is 2.svr");
	/* whoever is left behind at the end */
	agree(ONE "set 1.svr alpha_do = hold-until\nraise job_submit 1.svr\n", "cancel 4");
}

/* ---- modules and objects --------------------------------------------------------------------------------- */
static void test_life(void)
{
	agree("job 1.svr\njob 2.svr\nload alpha\nunload alpha\nload alpha\nunload alpha\n", "job_known");
	agree(ONE "set 1.svr alpha_do = fail\nset 1.svr alpha_fixed = other\nunload alpha\nshow 1.svr alpha_do\n"
		  "load alpha\nshow 1.svr alpha_do\nshow 1.svr alpha_fixed\n",
	      "1.svr.alpha_do is fail");
	agree(ONE "set 1.svr alpha_do = hold-now\nunload alpha\nload alpha\n", "load alpha: yes");
}

static void test_configuration(void)
{
	static const char *const texts[] = {
		"level = 1;", "level = 0;", "level = 10;", "level = \"3\";", "level = 3.5;", "pause = \"5s\";",
		"pause = 5;", "pause = \"1m\";", "pause = \"500ms\";", "pause = \"2h\";", "pause = \"soon\";",
		"room = \"1gb\";", "room = 4096;", "room = 1;", "room = \"1\";", "word = \"x\";", "word = 1;",
		"names = [ \"x\" ];", "names = ( );", "names = \"x\";", "names = ( 1 );", "colour = \"blue\";",
		"colour = \"Blue\";", "colour = 1;", "loud = true;", "loud = \"yes\";", "nothing = 1;",
		"level = 9;", "level = 9; loud = true;", "level = 8;", "level = 7;", "enabled = true;",
		"\n\nlevel = 11;", "word = { };",
	};
	char story[512];

	for (size_t i = 0; i < KEEL_COUNT(texts); i++) {
		char *text = strdup(texts[i]);

		for (char *at = text; *at != '\0'; at++)
			*at = *at == '\n' ? ' ' : *at;
		snprintf(story, sizeof(story), "load alpha '%s\nload beta\nreconf beta '%s\nreconf beta 'level = 2;\n",
			 text, text);
		free(text);
		agree(story, "load beta: yes");
	}
	agree("load alpha\nreconf alpha 'colour = \"red\";\nreconf alpha 'level = 6;\nreconf alpha 'level = 5;\n",
	      "reconf level 5");
}

static void test_values(void)
{
	static const char *const rows[][4] = {
		{ "Priority", "=", "5" }, { "Priority", "=", "-7" }, { "Priority", "=", "+7" },
		{ "Priority", "=", "x" }, { "Priority", "=", "" }, { "Priority", "+=", "3" }, { "Priority", "-=", "9" },
		{ "Priority", "=", "99999999999999999999" }, { "Priority", "unset", NULL },
		{ "Name", "=", "a b" }, { "Name", "+=", "cd" }, { "Name", "-=", "b" }, { "Name", "-=", "zz" },
		{ "Name", "=", "" }, { "Name", "+=", "x" }, { "Name", "unset", NULL },
		{ "List", "=", "a,b, c" }, { "List", "+=", "b,d" }, { "List", "-=", "a,c" }, { "List", "-=", "b,d" },
		{ "List", "+=", "x\\,y,z" }, { "List", "-=", "z" }, { "List", "=", "" },
		{ "Mem", "=", "4gb" }, { "Mem", "+=", "1024kb" }, { "Mem", "-=", "1mb" }, { "Mem", "=", "10" },
		{ "Mem", "=", "2kw" }, { "Mem", "+=", "1kb" }, { "Mem", "=", "1k" }, { "Mem", "=", "-1kb" },
		{ "Mem", "-=", "900tb" }, { "Mem", "=", "8W" },
		{ "Time", "=", "90" }, { "Time", "=", "1:30" }, { "Time", "=", "100:00:00" }, { "Time", "=", "1:2:3:4" },
		{ "Time", "=", "10.6" }, { "Time", "+=", "1:00:00" }, { "Time", "-=", "200:00:00" }, { "Time", "=", ":5" },
		{ "Share", "=", "1.5" }, { "Share", "=", "2" }, { "Share", "+=", ".25" }, { "Share", "=", "0x10" },
		{ "Share", "=", "nan" }, { "Share", "-=", "10" }, { "Share", "=", "1e3" },
		{ "Flag", "=", "true" }, { "Flag", "=", "n" }, { "Flag", "=", "maybe" }, { "Flag", "+=", "1" },
		{ "Flag", "=", "Y" }, { "Flag", "=", "0" },
	};
	static const char *const compared[][3] = {
		{ "Priority", ">=", "3" }, { "Priority", "<", "x" }, { "Name", "==", "axcd" }, { "Name", "<", "b" },
		{ "List", "==", "b" }, { "List", "!=", "q,r" }, { "Mem", ">", "3mb" }, { "Mem", "==", "4096mb" },
		{ "Time", "<=", "1:40" }, { "Share", ">", "0.5" }, { "Flag", "==", "False" }, { "Flag", "!=", "True" },
	};
	char story[8192] = "job 1.svr\nrows\n", *at = story + strlen(story);

	for (size_t i = 0; i < KEEL_COUNT(rows); i++)
		at += sprintf(at, "set 1.svr %s %s%s%s\nshow 1.svr %s\n", rows[i][0], rows[i][1],
			      rows[i][2] != NULL ? " '" : "", rows[i][2] != NULL ? rows[i][2] : "", rows[i][0]);
	agree(story, "1.svr.Mem is 4gb");
	strcpy(story, "job 1.svr\nset 1.svr Name = axcd\nset 1.svr List = a,b\nset 1.svr Mem = 4gb\n"
		      "set 1.svr Time = 100\nset 1.svr Share = 0.75\nset 1.svr Flag = f\njob 2.svr\n");
	at = story + strlen(story);
	for (size_t i = 0; i < KEEL_COUNT(compared); i++)
		for (int j = 1; j < 3; j++)
			at += sprintf(at, "match %d.svr %s %s %s\n", j, compared[i][0], compared[i][1], compared[i][2]);
	agree(story, "Mem == 4096mb: 1");
}

static void test_permissions(void)
{
	agree(ONE "change 1.svr Priority = 3\noperator 1.svr Priority = 3\noperator 1.svr priority = 4\n"
		  "change 1.svr nothing = 1\nchange 1.svr alpha_fixed += x\nchange 1.svr alpha_fixed unset\n"
		  "show 1.svr alpha_fixed\nchange 1.svr alpha_told = 1\nshow 1.svr alpha_told\nshow 1.svr alpha_told by\n"
		  "change 1.svr alpha_judged = good\nchange 1.svr alpha_judged = bad\nchange 1.svr alpha_judged = mute\n"
		  "change 1.svr alpha_judged += der\nchange 1.svr alpha_judged = '\nchange 1.svr alpha_judged unset\n"
		  "change 1.svr Priority == 3\nset 1.svr alpha_judged = bad\n",
	      "alpha does not like bad");
	agree(ONE "draft 2.svr\nset 2.svr alpha_judged = early\npublish\nlist\ndestroy 1.svr\nlist\njob 1.svr\nlist\n"
		  "unload alpha\nload alpha\n",
	      "changed alpha_judged to early");
}

/* The fixture of each point, at its point, in both. */
static void test_fixtures(void)
{
	static const char *const verb[] = { [KEEL_GATE] = "raise", [KEEL_ASK] = "raise", [KEEL_FOLD] = "fold",
					    [KEEL_NOTE] = "note" };
	static const char *const points[] = {
#define HOOK(id, name, kind, daemon, doc) #name,
#include "keel/hook_points.def"
#undef HOOK
	};
	static const uint32_t kinds[] = {
#define HOOK(id, name, kind, daemon, doc) KEEL_##kind,
#include "keel/hook_points.def"
#undef HOOK
	};
	char story[512], loaded[128];

	for (size_t i = 0; i < KEEL_COUNT(points); i++) {
		const char *name = points[i];

		snprintf(story, sizeof(story),
			 "job 1.svr\nload %s\ntapped %s\n%s %s 1.svr\nholds 1.svr\nwait 0\nnote job_purged 1.svr\n"
			 "wait 100000\nunload %s\n",
			 name, name, verb[kinds[i]], name, name);
		snprintf(loaded, sizeof(loaded), "load %s: yes", name);
		agree(story, loaded);
	}
}

/* Points that modules publish: the fixtures publish and listen. */
static void test_own_points(void)
{
	agree("load publish\nload listen\nabout ticket_used\nnote job_queued 1.svr\nnote job_queued 2.svr\n"
	      "note job_queued 3.svr\nnote job_queued 4.svr\n",
	      "publish: verdict 2 by listen.on_wanted");
	agree("load listen\nload publish\nload listen\nnote job_queued 1.svr\nunload listen\nabout ticket_wanted\n"
	      "note job_queued 2.svr\nunload publish\nabout ticket_used\nnote job_queued 3.svr\n",
	      "publish: verdict 0 by nobody");
	agree("load publish\nload listen 'waits = true;\njob 1.svr\nnote job_queued 1.svr\nholds 1.svr\nwait 60000\n"
	      "unload listen\nunload publish\n",
	      "listen: cancelled 1");
	agree("about job_submit\nabout none\n", "job_submit is of kind 1");
}

/* What a site says of the places of taps. */
static void test_site_order(void)
{
	agree(THREE "raise job_submit 1.svr\nreconf beta 'order = ( { tap = \"on_job_submit\"; order = 5; } );\n"
		    "raise job_submit 1.svr\nreconf alpha 'order = ( { tap = \"on_job_submit\"; after = \"gamma\"; } );\n"
		    "raise job_submit 1.svr\nraise job_modify 1.svr\nreconf beta '\nraise job_submit 1.svr\n",
	      "reconf beta: yes");
	agree("load alpha 'order = ( { tap = \"on_job_submit\"; order = 50; } );\nload beta\njob 1.svr\nraise job_submit 1.svr\n"
	      "reconf alpha 'order = ( { tap = \"on_job_submit\"; order = 50; }, { tap = \"on_job_modify\"; order = 60; } );\n"
	      "raise job_modify 1.svr\nreconf alpha '\nraise job_submit 1.svr\n",
	      "Probe;1.svr;beta: job_submit \nProbe;1.svr;alpha: job_submit");
	agree(THREE "reconf beta 'order = ( { tap = \"on_job_submit\"; before = \"gamma\"; } );\nraise job_submit 1.svr\n",
	      "reconf beta: no");
	agree("load alpha 'order = ( { tap = \"on_nothing\"; order = 50; } );\nload alpha\n"
	      "reconf alpha 'order = ( { tap = \"on_nothing\"; order = 50; } );\n",
	      "no tap \"on_nothing\"");
	agree("load alpha 'order = ( 5 );\nload alpha 'order = ( { tap = 5; } );\nload alpha 'order = ( { order = 2000; } );\n"
	      "load alpha 'order = ( { taps = 5; } );\n",
	      "got 2000");
}

/* What a site says of the objects that taps are for. */
#define GPU "load alpha\nload beta 'match = { alpha = \"^gpu\"; };\n"
static void test_site_match(void)
{
	agree(GPU "job 1.svr\nraise job_submit 1.svr\nset 1.svr Name = cpu\nraise job_submit 1.svr\n"
		  "set 1.svr Name = gpu-1\nraise job_submit 1.svr\nnote job_purged 1.svr\nfold job_rank 1.svr\n"
		  "alter job_submit 1.svr\n",
	      "Probe;1.svr;beta: job_submit");
	agree(GPU "job 1.svr\njob 2.svr\nset 1.svr Name = gpu\nset 2.svr Name = cpu\nunload beta\n"
		  "load beta 'match = { alpha = \"^gpu\"; };\nnote job_queued 1.svr\nnote job_queued 2.svr\n",
	      "Probe;1.svr;beta: job_known");
	/* a line is a line, and two patterns must both be found */
	agree(GPU "job 1.svr\nset 1.svr Name = cpu\nset 1.svr alpha_do = gpu\nraise job_submit 1.svr\n"
		  "reconf beta 'match = { alpha = \"^gpu$\"; beta = \"^x\"; };\nraise job_submit 1.svr\n"
		  "set 1.svr beta_do = x\nraise job_submit 1.svr\nreconf beta '\nset 1.svr alpha_do = none\n"
		  "raise job_submit 1.svr\nreconf beta 'match = { };\nraise job_submit 1.svr\n",
	      "Probe;1.svr;beta: job_submit x");
	agree(GPU "draft 2.svr\nset 2.svr Name = gpu\nraise job_submit 2.svr\nset 2.svr Name = cpu\n"
		  "raise job_submit 2.svr\npublish\n",
	      "Probe;2.svr;beta: job_submit");
	agree(GPU "job 1.svr\nset 1.svr beta_do = reject\nraise job_submit 1.svr\nset 1.svr Name = gpu\n"
		  "raise job_submit 1.svr\n",
	      "[beta says no to 1.svr]");
	/* taps that come later, and by name */
	agree(GPU "unload beta\nload listen 'match = { alpha = \"gpu\"; };\nload publish\njob 1.svr\n"
		  "note job_queued 1.svr\nset 1.svr Name = gpu\nnote job_queued 1.svr\n",
	      "publish: verdict");
}

static void test_wrong_matches(void)
{
	static const char *const texts[] = { "match = { alpha = \"(\"; };", "match = { alpha = \"[a\"; };",
					     "match = { alpha = 1; };", "match = { queue = \"x\"; };",
					     "match = { beta = \"x\"; };", "match = { alpha = \"\"; };" };
	char story[512];

	for (size_t i = 0; i < KEEL_COUNT(texts); i++) {
		snprintf(story, sizeof(story), "load alpha\nload beta '%s\njob 1.svr\nraise job_submit 1.svr\n"
					       "unload beta\nload gamma\nreconf gamma '%s\nraise job_submit 1.svr\n",
			 texts[i], texts[i]);
		agree(story, "load alpha: yes");
	}
	agree("load beta 'match = { alpha = \"x\"; };\nload gamma\nload beta 'match = { alpha = \"x\"; };\n",
	      "no module offers a scope \"alpha\" (there are: gamma, beta)");
	agree(GPU "unload alpha\njob 1.svr\nraise job_submit 1.svr\nreconf beta '\nunload alpha\n", "unload alpha: no");
	agree("load alpha\nload delta\nunload alpha\nload delta\n", "load delta: yes");
}

/* A pattern that would take for ever, and words that are longer than most. */
static void test_long_matches(void)
{
	char story[4096], *at = story;

	at += sprintf(at, "load alpha\nload beta 'match = { alpha = \"^(a+)+$\"; };\njob 1.svr\nset 1.svr Name = ");
	for (int i = 0; i < 60; i++)
		*at++ = 'a';
	strcpy(at, "b\nraise job_submit 1.svr\nraise job_submit 1.svr\n");
	agree(story, "takes too long and counts as found");
	at = story;
	at += sprintf(at, GPU "job 1.svr\nset 1.svr Name = ");
	for (int i = 0; i < 600; i++)
		*at++ = 'a';
	strcpy(at, "\nset 1.svr alpha_do = gpu\nraise job_submit 1.svr\nset 1.svr alpha_do = x\nraise job_submit 1.svr\n");
	agree(story, "Probe;1.svr;beta: job_submit");
}

/* Each key of every module's group that is the daemon's, one by one; a new one wants a sample here. */
static void test_keys_of_the_daemon(void)
{
	static const struct {
		const char *key, *value;
	} samples[] = {
		{ "enabled", "true" }, { "required", "true" }, { "isolation", "\"inline\"" },
		{ "isolation_limits", "{ memory = \"512mb\"; }" }, { "budget", "{ soft = \"50ms\"; }" },
		{ "match", "{ }" }, { "order", "( )" }, { "path", NULL },
	};
	static const char *const keys[] = {
#define GROUP_KEY(name, scalar, type, expected) #name,
#include "modfile/group_keys.def"
#undef GROUP_KEY
	};
	char story[256];

	for (size_t i = 0; i < KEEL_COUNT(keys); i++) {
		size_t s = 0;

		while (s < KEEL_COUNT(samples) && strcmp(samples[s].key, keys[i]) != 0)
			s++;
		CU_ASSERT_FATAL(s < KEEL_COUNT(samples));
		if (samples[s].value == NULL)
			continue; /* the daemon's half of every story has it */
		snprintf(story, sizeof(story), "load alpha '%s = %s;\n", keys[i], samples[s].value);
		agree(story, "load alpha: yes");
	}
	agree("load alpha 'no_such_key = 1;\n", "load alpha: no");
}

TESTS_MAIN("mock: agreement", TEST(test_keys_of_the_daemon), TEST(test_own_points), TEST(test_site_order), TEST(test_site_match), TEST(test_wrong_matches), TEST(test_long_matches), TEST(test_fixtures), TEST(test_verdicts), TEST(test_order), TEST(test_changes), TEST(test_folds_and_notes),
	   TEST(test_holds), TEST(test_ends_of_holds), TEST(test_life), TEST(test_configuration),
	   TEST(test_values), TEST(test_permissions))
