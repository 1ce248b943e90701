/* SPDX-License-Identifier: Apache-2.0
 *
 * keel/service/admin_suspend.h - service "admin_suspend" (offered by admin-suspend): jobs that stand still for maintenance.
 *
 * A job is suspended for reasons, words of the callers', and goes on when the last one is gone. They are stored on the job.
 */
#ifndef KEEL_SERVICE_ADMIN_SUSPEND_H
#define KEEL_SERVICE_ADMIN_SUSPEND_H

#include "keel/service/job.h"
#include "keel/types.h"
#include "keel/use.h"

struct keel_admin_suspend_api {
	uint32_t size, version;
	struct keel_mod *self; /* passed by the functions below: the first argument, where it is a keel_mod */
	/* What `qsig -s admin-suspend` does, in the name of `who`; one that is admin-suspended already has one reason more, but one
	 * that qsig stopped, which waits for qsig. `why` has no comma. Fails with 15016 unless it runs, or the error of the host. */
	void (*suspend)(struct keel_mod *, struct keel_obj *job, const char *why, const char *who, struct keel_mod *me,
			keel_job_done *done, void *arg);
	/* This reason is gone: what `qsig -s admin-resume` does when it was the last one. 0 when it was none of them. When it fails
	 * the reason stays. */
	void (*resume)(struct keel_mod *, struct keel_obj *job, const char *why, const char *who, struct keel_mod *me,
		       keel_job_done *done, void *arg);
	/* Calls fn for each admin-suspended job of the vnode, whatever it keeps there. fn must not suspend or resume. */
	void (*each)(struct keel_mod *, struct keel_obj *node, void (*fn)(void *arg, const char *job_id), void *arg);
};

KEEL_SERVICE(admin_suspend);
#define keel_admin_suspend_suspend(...) KEEL_CALL(admin_suspend, suspend, __VA_ARGS__)
#define keel_admin_suspend_resume(...) KEEL_CALL(admin_suspend, resume, __VA_ARGS__)
#define keel_admin_suspend_each(...) KEEL_CALL(admin_suspend, each, __VA_ARGS__)

#endif
