/* SPDX-License-Identifier: Apache-2.0
 *
 * test_hook.c - attributes of hooks: values, their rules and the sentences; base64.
 */
#include "manage.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "harness.h"

static struct state st;
static struct hook *h;
static struct keel_err err;

static int32_t error(struct keel_err *e, int32_t code, const char *fmt, ...)
{
	va_list args;

	e->code = code;
	va_start(args, fmt);
	vsnprintf(e->text, sizeof(e->text), fmt, args);
	va_end(args);
	return code;
}

static const struct keel_core_api core = { .error = error };

static void set_up(void)
{
	KEEL_MODULE_kernel = (struct keel_kernel){ .core = &core };
	h = hook_new(&st, "h1");
	CU_ASSERT_PTR_NOT_NULL_FATAL(h);
}

static void tear_down(void)
{
	HASH_DEL(st.hooks, h);
	free(h->name);
	free(h);
}

static void good(const char *attr, int32_t op, const char *text, const char *shown)
{
	char buf[1024];

	err.text[0] = '\0';
	CU_ASSERT_EQUAL(hook_set(h, attr, op, text, &err), 0);
	CU_ASSERT_STRING_EQUAL(err.text, "");
	CU_ASSERT(hook_text(h, attr, buf, sizeof(buf)) >= 0);
	CU_ASSERT_STRING_EQUAL(buf, shown);
}

/* It is refused with this sentence, and the value stays. */
static void bad(const char *attr, int32_t op, const char *text, const char *sentence)
{
	char before[1024] = "", after[1024] = "";

	hook_text(h, attr, before, sizeof(before));
	CU_ASSERT_EQUAL(hook_set(h, attr, op, text, &err), PBSE_HOOKERROR);
	CU_ASSERT_STRING_EQUAL(err.text, sentence);
	hook_text(h, attr, after, sizeof(after));
	CU_ASSERT_STRING_EQUAL(after, before);
}

#define LIST "queuejob,postqueuejob,modifyjob,modifyvnode,management,resvsub,modifyresv,movejob,jobobit,runjob,provision,periodic,"    \
	     "resv_confirm,resv_begin,resv_end,execjob_begin,execjob_prologue,execjob_epilogue,execjob_preterm,execjob_end,"          \
	     "exechost_periodic,execjob_launch,exechost_startup,execjob_attach,execjob_resize,execjob_abort,execjob_postsuspend,"    \
	     "execjob_preresume"

static void test_defaults(void)
{
	static const char *const shown[] = { "site", "true", "", "pbsadmin", "30", NULL, "1", "false", "none" };
	char buf[64];

	for (uint32_t i = 0; hook_attrs[i]; i++)
		if (shown[i]) {
			CU_ASSERT(hook_text(h, hook_attrs[i], buf, sizeof(buf)) >= 0);
			CU_ASSERT_STRING_EQUAL(buf, shown[i]);
		} else {
			CU_ASSERT_EQUAL(hook_text(h, hook_attrs[i], buf, sizeof(buf)), -ENOENT);
		}
	CU_ASSERT_EQUAL(hook_text(h, "nosuch", buf, sizeof(buf)), -ENOENT);
	CU_ASSERT_PTR_EQUAL(hook_find(&st, "h1"), h);
	CU_ASSERT_PTR_NULL(hook_find(&st, "h2"));
}

static void test_events(void)
{
	good("event", KEEL_SET, "queuejob", "queuejob");
	CU_ASSERT(hook_has(h, EVENT_queuejob) && !hook_of_moms(h));
	good("event", KEEL_INCR, " modifyjob , runjob", "queuejob,modifyjob,runjob");
	good("event", KEEL_DECR, "queuejob,movejob", "modifyjob,runjob");
	bad("event", KEEL_SET, "foo", "invalid argument (foo) to event. Should be one or more of: " LIST " or \"\" for no event");
	bad("event", KEEL_DECR, "runjob,,modifyjob", "invalid argument () to event. Should be one or more of: " LIST " or \"\" for no event");
	/* past modules/python-hooks/hook.c ECHO_MAX */
	bad("event", KEEL_INCR, "a23456789b23456789c23456789d23456789",
	    "invalid argument (a23456789b23456789c23456789d23) to event. Should be one or more of: " LIST " or \"\" for no event");
	bad("event", KEEL_SET, "queuejob,provision", "Event provision is not supported: vnodes are not provisioned by this server");
	good("event", KEEL_SET, &LIST[sizeof("queuejob,postqueuejob,modifyjob,modifyvnode,management,resvsub,modifyresv,movejob,jobobit,runjob,provision,") - 1],
	     "periodic,resv_confirm,resv_begin,resv_end,execjob_begin,execjob_prologue,execjob_epilogue,execjob_preterm,execjob_end,"
	     "execjob_launch,execjob_attach,execjob_resize,execjob_abort,execjob_postsuspend,execjob_preresume,exechost_periodic,"
	     "exechost_startup");
	CU_ASSERT(hook_of_moms(h));
	good("event", KEEL_SET, "", "");
	good("event", KEEL_INCR, "runjob", "runjob");
	good("event", KEEL_UNSET, NULL, "");
}

static void test_has(void)
{
	good("event", KEEL_SET, "queuejob", "queuejob");
	CU_ASSERT(!hook_has(h, EVENT_runjob));
	good("enabled", KEEL_SET, "F", "false");
	CU_ASSERT(!hook_has(h, EVENT_queuejob));
	good("enabled", KEEL_SET, "1", "true");
	h->pending = true;
	CU_ASSERT(!hook_has(h, EVENT_queuejob));
}

static void test_scalars(void)
{
	good("type", KEEL_SET, "site", "site");
	bad("type", KEEL_SET, "foo", "invalid argument to type, must be \"site\"");
	bad("type", KEEL_SET, "pbs", "not allowed to set hook to 'pbs' type");
	good("debug", KEEL_SET, "True", "true");
	good("debug", KEEL_SET, "n", "false");
	bad("enabled", KEEL_SET, "maybe", "unexpected value 'maybe', must be (not case sensitive) true|t|y|1|false|f|n|0");
	bad("enabled", KEEL_SET, NULL, "unexpected value '', must be (not case sensitive) true|t|y|1|false|f|n|0");
	bad("enabled", KEEL_INCR, "true", "'+=' operator not =");
	bad("order", KEEL_DECR, "1", "'-=' operator not =");
	bad("nosuch", KEEL_SET, "1", "Undefined attribute  - nosuch");
	bad("nosuch", KEEL_UNSET, NULL, "Undefined attribute  - nosuch");
	good("order", KEEL_SET, "1000", "1000");
	bad("order", KEEL_SET, "1001", "order given (1001) is outside the acceptable range of [1, 1000] for type 'site'.");
	bad("order", KEEL_SET, "abc", "order given (0) is outside the acceptable range of [1, 1000] for type 'site'.");
	bad("order", KEEL_SET, "5abc", "order given (0) is outside the acceptable range of [1, 1000] for type 'site'.");
	good("order", KEEL_UNSET, NULL, "1");
}

static void test_times(void)
{
	good("alarm", KEEL_SET, "10", "10");
	bad("alarm", KEEL_SET, "0", "set_hook_alarm: alarm value '0' of a hook must be > 0");
	bad("alarm", KEEL_SET, "x", "set_hook_alarm: alarm value 'x' of a hook must be > 0");
	good("alarm", KEEL_SET, "2147483647", "2147483647");
	bad("alarm", KEEL_SET, "2147483648", "set_hook_alarm: alarm value '2147483648' of a hook must be at most 2147483647");
	bad("alarm", KEEL_SET, "99999999999999999999",
	    "set_hook_alarm: alarm value '99999999999999999999' of a hook must be at most 2147483647");
	bad("freq", KEEL_SET, "10", "set_hook_freq: Can't set hook freq value: hook event must contain at least'exechost_periodic' or 'periodic'");
	good("event", KEEL_SET, "periodic", "periodic");
	good("freq", KEEL_SET, "10", "10");
	bad("freq", KEEL_SET, "0", "set_hook_freq: freq value '0' of a hook must be > 0");
	bad("freq", KEEL_SET, "1s", "set_hook_freq: encountered a non-digit freq value: s");
	bad("freq", KEEL_SET, "-1", "set_hook_freq: encountered a non-digit freq value: -");
	bad("freq", KEEL_SET, "99999999999", "set_hook_freq: freq value '99999999999' of a hook must be at most 2147483647");
	good("event", KEEL_SET, "exechost_periodic", "exechost_periodic");
	good("freq", KEEL_UNSET, NULL, "120");
}

#define NO_OWNER "Can't set hook user value to 'pbsuser': hook event must contain at least execjob_prologue,execjob_epilogue,execjob_preterm"

static void test_user(void)
{
	bad("user", KEEL_SET, "nosuch", "user value of a hook must be pbsadmin,pbsuser");
	bad("user", KEEL_SET, "pbsuser", NO_OWNER);
	good("event", KEEL_SET, "periodic,execjob_epilogue", "periodic,execjob_epilogue");
	bad("user", KEEL_SET, "pbsuser", "user value of a server periodic hook must be pbsadmin");
	good("event", KEEL_DECR, "periodic", "execjob_epilogue");
	good("user", KEEL_SET, "pbsuser", "pbsuser");
	bad("event", KEEL_INCR, "periodic", "user value of a server periodic hook must be pbsadmin");
	good("user", KEEL_UNSET, NULL, "pbsadmin");
}

#define NEEDS(word, what) "Can't set hook fail_action value to '" word "': hook event must contain at least " what

static void test_fail_action(void)
{
	const char *unknown = "fail_action value of a hook must be \"none\" or one or more of "
			      "\"offline_vnodes\",\"clear_vnodes_upon_recovery\", \"scheduler_restart_cycle\"";

	bad("fail_action", KEEL_SET, "foo", unknown);
	bad("fail_action", KEEL_SET, "none,offline_vnodes", unknown);
	bad("fail_action", KEEL_SET, "offline_vnodes",
	    NEEDS("offline_vnodes", "one of execjob_begin, exechost_startup, execjob_prologue"));
	good("event", KEEL_SET, "exechost_startup", "exechost_startup");
	good("fail_action", KEEL_SET, "clear_vnodes_upon_recovery,offline_vnodes", "offline_vnodes,clear_vnodes_upon_recovery");
	bad("fail_action", KEEL_INCR, "scheduler_restart_cycle",
	    NEEDS("scheduler_restart_cycle", "one of execjob_begin, execjob_prologue"));
	good("event", KEEL_SET, "execjob_prologue", "execjob_prologue");
	bad("fail_action", KEEL_SET, "clear_vnodes_upon_recovery", NEEDS("clear_vnodes_upon_recovery", "an exechost_startup value"));
	good("fail_action", KEEL_DECR, "clear_vnodes_upon_recovery", "offline_vnodes");
	good("fail_action", KEEL_INCR, "scheduler_restart_cycle", "offline_vnodes,scheduler_restart_cycle");
	good("fail_action", KEEL_SET, "none", "none");
}

/* ---- base64 ----------------------------------------------------------------------------------------------------------------- */

static void test_base64_round_trip(void)
{
	unsigned char bytes[300];

	for (uint32_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (unsigned char)(i * 7);
	for (uint32_t n = 0; n <= sizeof(bytes); n++) {
		uint32_t len = 1;
		char *text = base64_text(bytes, n), *back = base64_bytes(text, (uint32_t)strlen(text), &len);

		CU_ASSERT_PTR_NOT_NULL_FATAL(back);
		CU_ASSERT_EQUAL(len, n);
		CU_ASSERT(memcmp(back, bytes, n) == 0);
		free(text);
		free(back);
	}
	{
		char *text = base64_text(bytes, 58);

		CU_ASSERT_EQUAL(strcspn(text, "\n"), 76);
		CU_ASSERT_EQUAL(text[strlen(text) - 1], '\n');
		free(text);
	}
}

static void test_base64_refused(void)
{
	static const char *const wrong[] = { "aGk", "aGk==", "a", "====", "aGk=x", "aG\x01k=", "aGk=aGk=", "aGl=", "aQ=a", "\xc3\xa4==", "aR==" };
	uint32_t len;

	for (uint32_t i = 0; i < KEEL_COUNT(wrong); i++) {
		char *bytes = base64_bytes(wrong[i], (uint32_t)strlen(wrong[i]), &len);

		CU_ASSERT_PTR_NULL(bytes);
		free(bytes);
	}
	{
		char *bytes = base64_bytes("aGk\0", 4, &len);

		CU_ASSERT_PTR_NULL(bytes);
		free(bytes);
		bytes = base64_bytes(" aG\r\nk=\t\n?", 9, &len);
		CU_ASSERT_PTR_NOT_NULL_FATAL(bytes);
		CU_ASSERT_STRING_EQUAL(bytes, "hi");
		free(bytes);
	}
}

TESTS_MAIN_BETWEEN("hook", set_up, tear_down, TEST(test_defaults), TEST(test_events), TEST(test_has), TEST(test_scalars),
		   TEST(test_times), TEST(test_user), TEST(test_fail_action), TEST(test_base64_round_trip), TEST(test_base64_refused))
