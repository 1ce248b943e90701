// SPDX-License-Identifier: Apache-2.0
//
// template.cc - jobs name the ticket they belong to; those that do not wait at the door.
//
// A whole feature in a folder: an attribute (`qsub -W template_id=ABC-12`), a key of the configuration, and a
// tap at job_submit, which asks whether a job may be queued. A job with a ticket passes, a ticket that
// looks wrong is refused, and a submission without one is held for `pause` before it is accepted.
// Invariant: a wait has one hold and one timer; whichever ends first ends the other.
//
// In C++: designators go in the order of the struct, tables have no constructors, and no exception leaves a
// function that the daemon calls: guarded() makes a failed tap of it.
#include <exception>
#include <memory>
#include <new>
#include <string>

#include "keel/keel.h"
#include "pbs_error.h"

namespace {

constexpr std::size_t ticket_max = 64;

struct conf {
	int64_t pause; // ms
};
struct state {
	const keel_core_api *core;
	const keel_call_api *call;
};
struct wait {
	const keel_call_api *call;
	keel_hold *hold;
	keel_timer *timer;
};

const state &state_of(const keel_call *c) { return *static_cast<const state *>(keel_state(c)); }
const conf &conf_of(const keel_call *c) { return *static_cast<const conf *>(keel_conf(c)); }

keel_verdict guarded(keel_call *c, auto body)
{
	try {
		return body();
	} catch (const std::exception &e) {
		return state_of(c).call->fail(c, "%s", e.what());
	} catch (...) {
		return state_of(c).call->fail(c, "an exception of no name");
	}
}

void on_time(keel_mod *, void *arg)
{
	wait *w = static_cast<wait *>(arg);

	w->timer = nullptr;
	w->call->release(w->hold); // on_waited() runs now or soon; w is gone after it
}

keel_verdict on_waited(keel_call *, void *arg)
{
	delete static_cast<wait *>(arg);
	return KEEL_NEXT;
}

// The submitter went away, or this module stops: the job is not queued.
void on_cancelled(keel_call *c, void *arg, int32_t)
{
	std::unique_ptr<wait> w(static_cast<wait *>(arg));

	state_of(c).core->timer_cancel(w->timer);
}

keel_verdict wait_at_the_door(keel_call *c)
{
	const state &st = state_of(c);
	auto w = std::make_unique<wait>(wait{ st.call, nullptr, nullptr });
	const keel_hold_opts opts = { .size = sizeof(opts), .why = "submitted without a ticket",
				      .timeout_ms = conf_of(c).pause + 60000, .resume = on_waited,
				      .cancel = on_cancelled, .arg = w.get() };
	keel_verdict verdict = st.call->hold(c, &opts, &w->hold);

	if (verdict != KEEL_WAIT)
		return verdict;
	w->timer = st.core->timer(c->mod, conf_of(c).pause, on_time, w.get());
	w.release(); // the hold's now; without memory for a timer its deadline ends it
	return KEEL_WAIT;
}

// The value as the operation would make it; false: there is none.
bool value_of(keel_call *c, keel_obj *job, const char *attr, std::string &ret)
{
	int32_t len = state_of(c).call->get(c, job, attr, nullptr, nullptr, 0);

	if (len < 0)
		return false;
	ret.resize(static_cast<std::size_t>(len));
	return state_of(c).call->get(c, job, attr, nullptr, ret.data(), static_cast<uint32_t>(len) + 1) == len;
}

keel_verdict on_submit(keel_call *c, const keel_ev_job_submit *ev)
{
	return guarded(c, [&]() -> keel_verdict {
		const state &st = state_of(c);
		std::string ticket;

		if (!value_of(c, ev->job, "template_id", ticket))
			return conf_of(c).pause > 0 ? wait_at_the_door(c) : KEEL_NEXT;
		if (ticket.size() > ticket_max || ticket.find('-') == std::string::npos)
			return st.call->reject(c, PBSE_BADATVAL, "template_id: expected KEY-NUMBER, got '%.64s'",
					       ticket.c_str());
		st.core->log(c->mod, KEEL_LOG_DEBUG, "Job", ev->id, "belongs to ticket %s", ticket.c_str());
		return KEEL_NEXT;
	});
}

// ---- what the module brings ----------------------------------------------------------------------

const keel_conf_rule rules[] = {
	KEEL_CONF_RULE(DURATION, conf, pause, .fallback = "2s", .max = 3600000,
		       .doc = "how long a submission without a ticket waits; 0: not at all"),
};
const keel_need needs[] = { KEEL_NEED(core, 0, state, core), KEEL_NEED(call, 0, state, call) };
const keel_attr_def ticket = { .size = sizeof(keel_attr_def), .flags = KEEL_ATTR_SAVE, .klass = "job",
			       .name = "template_id", .type = "string",
			       .doc = "the ticket that the job belongs to", .read_roles = KEEL_EVERYBODY,
			       .write_roles = KEEL_EVERYBODY, .order = 900 };
const keel_contrib contribs[] = { KEEL_ROW(ATTR, ticket) };
const keel_tap taps[] = { KEEL_TAP(job_submit, on_submit, .order = 10) };

} // namespace

KEEL_MODULE(.name = "template", .version = "1.0", .vendor = "Example",
	    .summary = "jobs name the ticket they belong to", .roles = KEEL_SERVER,
	    .state_size = sizeof(state), .conf_size = sizeof(conf), .n_conf = KEEL_COUNT(rules),
	    .n_needs = KEEL_COUNT(needs), .n_contribs = KEEL_COUNT(contribs), .n_taps = KEEL_COUNT(taps),
	    .conf = rules, .needs = needs, .contribs = contribs, .taps = taps);
