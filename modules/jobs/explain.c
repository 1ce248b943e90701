/* SPDX-License-Identifier: Apache-2.0
 *
 * explain.c - what jobs knows of a job for `keelson explain` (point job_explain): who holds it, until when it waits, where it
 * runs, by whom it is suspended, how it ended.
 */
#include "jobs.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "keel/text.h"

KEEL_ATTRS_OF(job, Hold_Types, held_by, stopped_by, ended_by, released_names, Execution_Time, exec_host, exec_vnode, stime,
	      obittime, history_timestamp, Exit_status, Resource_List, run_count, substate, etime);

enum { LINE = 1024, DATE = 64 };

/* ---- lines ------------------------------------------------------------------------------------------------------- */

static __attribute__((format(printf, 3, 4))) void say(struct keel_call *c, const char *what, const char *fmt, ...)
{
	char text[LINE], line[LINE + 16];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	for (char *at = text; *at; at++)
		if ((unsigned char)*at < ' ')
			*at = ' ';
	snprintf(line, sizeof(line), "%-12s %s\n", what, text);
	keel_append(c, line);
}

static const char *date(int64_t seconds, char buf[DATE])
{
	const time_t when = (time_t)seconds;
	struct tm tm;

	if (seconds <= 0 || !localtime_r(&when, &tm) || !strftime(buf, DATE, "%a %b %e %H:%M:%S %Y", &tm))
		strcpy(buf, "a time that is not known");
	return buf;
}

/* ---- held: by whom, since when: "u 1795900918 bob@svr;s ..." ------------------------------------------------------- */

static const struct {
	int32_t bit;
	char letter;
	const char *whose, *release;
} kinds[] = {
	{ HOLD_USER, 'u', "a user's", "its owner releases it: `qrls %s`" },
	{ HOLD_OTHER, 'o', "an operator's", "an operator releases it: `qrls -h o %s`" },
	{ HOLD_SYSTEM, 's', "the system's", "a manager releases it: `qrls -h s %s`" },
	{ HOLD_PASSWORD, 'p', "of a bad password", "a manager releases it: `qrls -h p %s`" },
};

/* The part of `text` about this letter; its length without what follows. NULL: there is none. */
static const char *part_of(const char *text, char letter, size_t *ret_len)
{
	for (; text && *text; text += *text == ';') {
		*ret_len = strcspn(text, ";");
		if (*text == letter)
			return text;
		text += *ret_len;
	}
	return NULL;
}

void held_note(struct keel_mod *mod, struct keel_obj *job, int32_t bits, bool set, const char *who)
{
	const char *before = keel_get_str(job, job_held_by), *part;
	char text[2048] = "";
	size_t len, n = 0;

	for (size_t i = 0; i < KEEL_COUNT(kinds) && n < sizeof(text); i++) {
		if (bits & kinds[i].bit) {
			if (set)
				n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%c %lld %.400s", n ? ";" : "",
						      kinds[i].letter, (long long)keel_time(mod), who);
		} else if ((part = part_of(before, kinds[i].letter, &len)) != NULL) {
			n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%.*s", n ? ";" : "", (int)(len < 450 ? len : 450), part);
		}
	}
	if (*text)
		keel_set_str(job, job_held_by, text);
	else
		keel_unset(job, job_held_by, NULL);
}

static void tell_hold(struct keel_call *c, struct keel_obj *job, size_t i)
{
	size_t len = 0;
	const char *part = part_of(keel_get_str(job, job_held_by), kinds[i].letter, &len);
	char how[400], when[DATE];
	long long since;
	int at = 0;

	snprintf(how, sizeof(how), kinds[i].release, keel_id(job));
	if (part && sscanf(part + 1, "%lld %n", &since, &at) == 1 && at > 0 && (size_t)at + 1 < len)
		say(c, "held", "%c, %s hold, by %.*s since %s; %s", kinds[i].letter, kinds[i].whose, (int)(len - (size_t)at - 1),
		    part + 1 + at, date(since, when), how);
	else
		say(c, "held", "%c, %s hold, set when it was submitted or altered; %s", kinds[i].letter, kinds[i].whose, how);
}

static void tell_holds(struct keel_call *c, struct keel_obj *job)
{
	const int64_t bits = keel_get_int(job, job_Hold_Types);

	for (size_t i = 0; i < KEEL_COUNT(kinds); i++)
		if (bits & kinds[i].bit)
			tell_hold(c, job, i);
	if (bits & HOLD_DEPENDS)
		say(c, "held", "until other jobs have done something (-W depend); `qrls -h s %s` by a manager lets it go without that",
		    keel_id(job));
}

/* ---- waits, runs -------------------------------------------------------------------------------------------------- */

static void tell_time(struct keel_call *c, struct keel_obj *job)
{
	const int64_t until = keel_get_int(job, job_Execution_Time), left = until - keel_time(c->mod);
	char when[DATE];

	if (keel_get_int(job, job_substate) == KEEL_STAGE_IN_FAILED)
		say(c, "waits", "its files could not be staged in; it is tried again in half an hour, or at the time of -a");
	else if (left > 0)
		say(c, "waits", "until %s (-a), another %lld:%02lld:%02lld", date(until, when), (long long)(left / 3600),
		    (long long)(left / 60 % 60), (long long)(left % 60));
	else
		say(c, "waits", "its time (-a) has come: it is queued within a moment");
}

static const char *hosts(struct keel_obj *job)
{
	const char *text = keel_get_str(job, job_exec_host);

	text = text ? text : keel_get_str(job, job_exec_vnode);
	return text ? text : "a host that is not known";
}

static void tell_running(struct keel_call *c, struct keel_obj *job, enum step step)
{
	const struct keel_res_value *limit = keel_resource_list_get(keel_get_ptr(job, job_Resource_List), "walltime");
	const int64_t since = keel_get_int(job, job_stime);
	char from[DATE], till[DATE];

	if (step == STEP_SENT)
		say(c, "starting", "on %s: sent there, and not yet running", hosts(job));
	else if (limit && limit->n < 1e9)
		say(c, "running", "on %s since %s; until %s at the latest, unless it is suspended", hosts(job), date(since, from),
		    date(since + (int64_t)limit->n, till));
	else
		say(c, "running", "on %s since %s; without a limit of time (walltime)", hosts(job), date(since, from));
}

void stopped_note(struct keel_mod *mod, struct keel_obj *job, const char *signal, const char *who)
{
	char text[600];

	snprintf(text, sizeof(text), "%lld %.100s %.400s", (long long)keel_time(mod), signal, who);
	keel_set_str(job, job_stopped_by, text);
}

static void tell_suspended(struct keel_call *c, struct keel_obj *job, enum step step)
{
	const char *text = keel_get_str(job, job_stopped_by), *names = keel_get_str(job, job_released_names);
	char when[DATE], signal[101] = "suspend";
	long long since = 0;
	int at = 0;

	if (!text || sscanf(text, "%lld %100s %n", &since, signal, &at) < 2)
		at = 0;
	say(c, "suspended", "since %s by %s (%s); %s", date(since, when), at ? text + at : "a request that is not recorded", signal,
	    step == STEP_SCHED_SUSPENDED ? "the scheduler resumes it when there is room"
	    : strcmp(signal, "suspend") == 0 ? "`qsig -s resume` lets it go on when there is room"
					     : "it goes on when that is resumed");
	say(c, "gave back", "%s", names ? *names ? names : "nothing" : "all that it had of its vnodes");
}

/* ---- ended --------------------------------------------------------------------------------------------------------- */

/* What negative statuses are. */
static const struct {
	int32_t status;
	const char *words;
} failures[] = {
	{ -1, "it could not be started, before its files were there" },
	{ -2, "it could not be started, its files were there" },
	{ -3, "its start failed and was to be tried again" },
	{ -4, "its host's daemon ended it at its start" },
	{ -10, "its user or group is not known on the host" },
	{ -11, "it was rerun" },
	{ -12, "it was saved by a checkpoint" },
	{ -13, "bad password" },
	{ -14, "a host of it was lost" },
	{ -16, "a hook asked for it to be run again" },
	{ -17, "a hook asked for it to be deleted at its start" },
	{ -18, "a hook asked for it to be run again" },
	{ -19, "a hook asked for it to be deleted" },
	{ -20, "the first host was lost" },
	{ -21, "its temporary directory was not safe" },
	{ -22, "a hook failed" },
	{ -24, "killed: it used more processors at a time than it asked for (cpuburst)" },
	{ -25, "killed: it used more processors on average than it asked for (cpuaverage)" },
	{ -26, "killed: it used more vmem than it asked for" },
	{ -27, "killed: it used more mem than it asked for" },
	{ -28, "killed: it used more cput than it asked for" },
	{ -29, "killed: its walltime was over" },
	{ -30, "its hosts did not come together" },
};

/* NULL: no name that people know. */
static const char *signal_name(int64_t number)
{
	static const char *const names[] = {
		[SIGHUP] = "HUP", [SIGINT] = "INT", [SIGQUIT] = "QUIT", [SIGILL] = "ILL", [SIGTRAP] = "TRAP", [SIGABRT] = "ABRT",
		[SIGBUS] = "BUS", [SIGFPE] = "FPE", [SIGKILL] = "KILL", [SIGUSR1] = "USR1", [SIGSEGV] = "SEGV", [SIGUSR2] = "USR2",
		[SIGPIPE] = "PIPE", [SIGALRM] = "ALRM", [SIGTERM] = "TERM", [SIGXCPU] = "XCPU", [SIGXFSZ] = "XFSZ",
	};

	return number > 0 && number < (int64_t)KEEL_COUNT(names) ? names[number] : NULL;
}

static void exit_words(int64_t status, char *buf, size_t len)
{
	const char *name = signal_name(status > 256 ? status - 256 : status - 128);

	if (status == 0)
		snprintf(buf, len, "0, well");
	else if (status > 256)
		snprintf(buf, len, "%lld: its first process was ended by signal %lld%s%s", (long long)status,
			 (long long)(status - 256), name ? " " : "", name ? name : "");
	else if (status > 128 && name)
		snprintf(buf, len, "%lld: its own, or a program of it was ended by signal %lld %s", (long long)status,
			 (long long)(status - 128), name);
	else if (status > 0)
		snprintf(buf, len, "%lld, its own", (long long)status);
	else
		snprintf(buf, len, "%lld", (long long)status);
	for (size_t i = 0; i < KEEL_COUNT(failures); i++)
		if (failures[i].status == status)
			snprintf(buf, len, "%lld: %s", (long long)status, failures[i].words);
}

static void tell_finished(struct keel_call *c, struct keel_obj *job, enum step step)
{
	const char *by = keel_get_str(job, job_ended_by);
	int64_t end = keel_get_int(job, job_obittime);
	char words[200], when[DATE];

	end = end > 0 ? end : keel_get_int(job, job_history_timestamp);
	exit_words(keel_get_int(job, job_Exit_status), words, sizeof(words));
	if (keel_is_set(job, job_Exit_status))
		say(c, "finished", "%s; exit status %s", date(end, when), words);
	else
		say(c, "finished", "%s; it has not run", date(end, when));
	if (by)
		say(c, "why", "deleted at request of %s", by);
	else if (step == STEP_TERMINATED)
		say(c, "why", "it was deleted");
	if (keel_is_set(job, job_stime))
		say(c, "ran", "on %s from %s; it was started %lld time%s", hosts(job), date(keel_get_int(job, job_stime), when),
		    (long long)keel_get_int(job, job_run_count), keel_get_int(job, job_run_count) == 1 ? "" : "s");
}

/* ---- the tap -------------------------------------------------------------------------------------------------------- */

static void tell_exiting(struct keel_call *c, struct keel_obj *job)
{
	const int64_t substate = keel_get_int(job, job_substate);
	char when[DATE];

	say(c, "exiting", "its program has ended%s%s: %s", keel_get_int(job, job_obittime) > 0 ? " at " : "",
	    keel_get_int(job, job_obittime) > 0 ? date(keel_get_int(job, job_obittime), when) : "",
	    substate == KEEL_STAGE_OUT ? "its files are being copied" : "its hosts clean up");
}

keel_verdict on_job_explain(struct keel_call *c, const struct keel_ev_job_explain *ev)
{
	const enum step step = job_slot(c->mod, ev->job)->step;
	const char letter = step_letter(step);
	char when[DATE];

	if (step_is_suspended(step))
		tell_suspended(c, ev->job, step);
	if (step_is_over(step))
		tell_finished(c, ev->job, step);
	else if (letter == 'R')
		tell_running(c, ev->job, step);
	else if (letter == 'E')
		tell_exiting(c, ev->job);
	else if (letter == 'W')
		tell_time(c, ev->job);
	else if (letter == 'Q' && keel_get_int(ev->job, job_etime) > 0)
		say(c, "waits", "since %s for its turn", date(keel_get_int(ev->job, job_etime), when));
	if (!step_is_over(step))
		tell_holds(c, ev->job);
	return KEEL_NEXT;
}
