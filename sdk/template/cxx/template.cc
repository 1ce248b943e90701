// SPDX-License-Identifier: Apache-2.0
//
// template.cc - jobs name the ticket they belong to: `qsub -W template_id=ABC-12`.
//
// An attribute, two keys of the configuration, and a tap at job_submit: may this job be queued? A ticket that looks wrong
// is refused, and one without a file in `tickets`: that look may be slow, so a worker does it while the submission waits.
//
// In C++: designators go in the order of the struct, tables have no constructors, and no exception leaves a
// function that the daemon calls: guarded() makes a failed tap of it.
#include <exception>
#include <fstream>
#include <memory>
#include <string>

#include "keel/keel.h"
#include "keel/slow.h"
#include "pbs_error.h"

namespace {

constexpr std::size_t ticket_max = 64;

struct conf {
	const char *tickets;
	int64_t patience; // ms
};
const keel_conf_rule rules[] = {
	KEEL_CONF_RULE(STRING, conf, tickets, .fallback = "", .doc = "directory with a file per ticket; \"\": any will do"),
	KEEL_CONF_RULE(DURATION, conf, patience, .fallback = "2s", .max = 3600000, .doc = "how long a look at it may take"),
};
const keel_attr_def ticket = { .size = sizeof(keel_attr_def), .flags = KEEL_ATTR_SAVE, .klass = "job",
			       .name = "template_id", .type = "string",
			       .doc = "the ticket that the job belongs to", .read_roles = KEEL_EVERYBODY,
			       .write_roles = KEEL_EVERYBODY, .order = 900 };
const keel_contrib contribs[] = { KEEL_ROW(ATTR, ticket) };

struct look {
	std::string path;
	bool found;
};

keel_verdict guarded(keel_call *c, auto body)
{
	try {
		return body();
	} catch (const std::exception &e) {
		return keel_fail(c, "%s", e.what());
	} catch (...) {
		return keel_fail(c, "an exception of no name");
	}
}

// On a worker thread, which sees nothing but its argument.
void look_up(void *arg)
{
	look *l = static_cast<look *>(arg);

	try {
		l->found = std::ifstream(l->path).is_open();
	} catch (...) {
		l->found = false;
	}
}

keel_verdict answer(keel_call *c, void *arg)
{
	return static_cast<look *>(arg)->found ? KEEL_NEXT :
						  keel_reject(c, PBSE_BADATVAL, "template_id: there is no such ticket");
}

void look_free(void *arg) { delete static_cast<look *>(arg); }

// The value as the operation would make it; false: there is none.
bool value_of(keel_call *c, keel_obj *job, const char *attr, std::string &ret)
{
	int32_t len = keel_call_get(c, job, attr, nullptr, nullptr, 0);

	if (len < 0)
		return false;
	ret.resize(static_cast<std::size_t>(len));
	return keel_call_get(c, job, attr, nullptr, ret.data(), static_cast<uint32_t>(len) + 1) == len;
}

keel_verdict on_submit(keel_call *c, const keel_ev_job_submit *ev)
{
	return guarded(c, [&]() -> keel_verdict {
		const conf &cf = *static_cast<const conf *>(keel_conf(c));
		std::string id;

		if (!value_of(c, ev->job, "template_id", id))
			return KEEL_NEXT;
		if (id.size() > ticket_max || id.find('-') == std::string::npos || id.find('/') != std::string::npos)
			return keel_reject(c, PBSE_BADATVAL, "template_id: expected KEY-NUMBER, got '%.64s'", id.c_str());
		if (*cf.tickets == '\0')
			return KEEL_NEXT;
		auto l = std::make_unique<look>(look{ std::string(cf.tickets) + "/" + id, false });
		return keel_hold_work(c, "looking up the ticket", cf.patience, look_up, answer, l.release(), look_free);
	});
}

const keel_tap taps[] = { KEEL_TAP(job_submit, on_submit, .order = 10) };

} // namespace

KEEL_MODULE(.name = "template", .version = "1.0", .vendor = "Example",
	    .summary = "jobs name the ticket they belong to", .roles = KEEL_SERVER, KEEL_CONF(conf, rules),
	    KEEL_CONTRIBS(contribs), KEEL_TAPS(taps));
