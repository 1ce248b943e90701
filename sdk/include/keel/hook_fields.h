/* SPDX-License-Identifier: Apache-2.0
 *
 * hook_fields.h - the fields of each event, one list per row of hook_points.def. Append only.
 *
 * `who` is user@host of the requester, or the daemon's own name.
 */
#ifndef KEEL_HOOK_FIELDS_H
#define KEEL_HOOK_FIELDS_H

#define KEEL_FIELDS_server_start(F)
#define KEEL_FIELDS_server_stop(F) F(INT, for_good)
#define KEEL_FIELDS_client_auth(F) F(STR, user) F(STR, host) F(INT, uid)
#define KEEL_FIELDS_request_receive(F) F(STR, name) F(STR, who)
#define KEEL_FIELDS_management(F) F(STR, klass) F(STR, name) F(INT, cmd) F(OBJ, obj) F(STR, who)
/* cmd and object: numbers of enum mgr_cmd and mgr_obj; changes: one line each, `name TAB key TAB op TAB value`, op a number of enum
 * keel_op, with \\, \t and \n for those characters; time: when it came, seconds since 1970 */
#define KEEL_FIELDS_management_done(F) F(STR, klass) F(STR, name) F(INT, cmd) F(INT, object) F(STR, who) F(INT, code) F(STR, text) F(STR, changes) F(INT, time)
#define KEEL_FIELDS_peer_up(F) F(STR, peer) F(INT, daemon)
#define KEEL_FIELDS_peer_down(F) F(STR, peer) F(INT, daemon)

#define KEEL_FIELDS_job_submit(F) F(STR, id) F(OBJ, job) F(OBJ, queue) F(STR, who)
#define KEEL_FIELDS_job_queued(F) F(STR, id) F(OBJ, job)
#define KEEL_FIELDS_job_modify(F) F(STR, id) F(OBJ, job) F(STR, who)
#define KEEL_FIELDS_job_hold(F) F(STR, id) F(OBJ, job) F(STR, holds) F(STR, who)
#define KEEL_FIELDS_job_release(F) F(STR, id) F(OBJ, job) F(STR, holds) F(STR, who)
/* dry: 1, nothing starts yet: would it be allowed? exec_vnode is "" then, it is not decided */
#define KEEL_FIELDS_start_now(F) F(STR, id) F(OBJ, job) F(STR, exec_vnode) F(STR, who) F(INT, dry)
#define KEEL_FIELDS_job_resized(F) F(STR, id) F(OBJ, job) F(STR, why)
#define KEEL_FIELDS_job_started(F) F(STR, id) F(OBJ, job)
#define KEEL_FIELDS_job_signal(F) F(STR, id) F(OBJ, job) F(STR, signal) F(STR, who)
#define KEEL_FIELDS_job_suspended(F) F(STR, id) F(OBJ, job) F(STR, signal) F(STR, who)
#define KEEL_FIELDS_job_resume(F) F(STR, id) F(OBJ, job) F(STR, signal) F(STR, who)
#define KEEL_FIELDS_job_resumed(F) F(STR, id) F(OBJ, job) F(STR, signal) F(STR, who)
#define KEEL_FIELDS_job_delete(F) F(STR, id) F(OBJ, job) F(STR, who)
#define KEEL_FIELDS_job_obit(F) F(STR, id) F(OBJ, job) F(INT, exit_status) F(STR, why)
#define KEEL_FIELDS_job_ended(F) F(STR, id) F(OBJ, job) F(INT, requeued) F(INT, ran)
#define KEEL_FIELDS_job_purged(F) F(STR, id) F(OBJ, job) F(INT, requeued)
#define KEEL_FIELDS_job_known(F) F(STR, id) F(OBJ, job)
#define KEEL_FIELDS_job_move(F) F(STR, id) F(OBJ, job) F(OBJ, queue) F(STR, who)
#define KEEL_FIELDS_job_route(F) F(STR, id) F(OBJ, job) F(OBJ, queue)
#define KEEL_FIELDS_job_reason(F) F(STR, id) F(OBJ, job) F(STR, comment)
#define KEEL_FIELDS_job_moved(F) F(STR, id) F(OBJ, job) F(STR, from)

#define KEEL_FIELDS_job_notice(F) F(STR, id) F(OBJ, job) F(STR, letter) F(STR, text)
#define KEEL_FIELDS_start_group(F) F(STR, id) F(OBJ, job)
#define KEEL_FIELDS_job_waits(F) F(STR, id) F(OBJ, job)
#define KEEL_FIELDS_job_placed(F) F(STR, id) F(OBJ, job)
#define KEEL_FIELDS_job_step(F) F(STR, id) F(OBJ, job) F(INT, state) F(INT, placed)

#define KEEL_FIELDS_node_known(F) F(STR, id) F(OBJ, node)
#define KEEL_FIELDS_node_modify(F) F(STR, id) F(OBJ, node) F(STR, who)
#define KEEL_FIELDS_node_delete(F) F(STR, id) F(OBJ, node) F(STR, who)
#define KEEL_FIELDS_node_state(F) F(STR, id) F(OBJ, node) F(INT, before) F(INT, after)
#define KEEL_FIELDS_node_down(F) F(STR, id) F(OBJ, node) F(STR, why)
#define KEEL_FIELDS_resource_delete(F) F(STR, id) F(STR, who)
#define KEEL_FIELDS_acct_record(F) F(STR, id) F(OBJ, job) F(STR, letter)
#define KEEL_FIELDS_suspend_release(F) F(STR, id) F(OBJ, job)

#define KEEL_FIELDS_resv_submit(F) F(STR, id) F(OBJ, resv) F(STR, who)
#define KEEL_FIELDS_resv_modify(F) F(STR, id) F(OBJ, resv) F(STR, who)
#define KEEL_FIELDS_resv_confirm(F) F(STR, id) F(OBJ, resv)
#define KEEL_FIELDS_resv_begin(F) F(STR, id) F(OBJ, resv)
/* deleted: 1, it is deleted before its time was over */
#define KEEL_FIELDS_resv_end(F) F(STR, id) F(OBJ, resv) F(INT, deleted)
#define KEEL_FIELDS_resv_conflict(F) F(STR, id) F(OBJ, resv) F(STR, with)
#define KEEL_FIELDS_resv_known(F) F(STR, id) F(OBJ, resv)

#define KEEL_FIELDS_cycle_begin(F) F(INT, cycle)
#define KEEL_FIELDS_cycle_end(F) F(INT, cycle) F(INT, started)
#define KEEL_FIELDS_start_job(F) F(STR, id) F(OBJ, job)
#define KEEL_FIELDS_job_rank(F) F(STR, id) F(OBJ, job)
#define KEEL_FIELDS_node_eligible(F) F(STR, id) F(OBJ, node) F(OBJ, job)
#define KEEL_FIELDS_node_score(F) F(STR, id) F(OBJ, node) F(OBJ, job)
/* start: seconds since 1970 */
#define KEEL_FIELDS_start_when(F) F(STR, id) F(OBJ, job) F(INT, start)
#define KEEL_FIELDS_trial_vacate(F) F(STR, id) F(OBJ, job)
#define KEEL_FIELDS_trial_restore(F) F(STR, id) F(OBJ, job)
/* others: 1, the requester may see other users' jobs */
#define KEEL_FIELDS_job_explain(F) F(STR, id) F(OBJ, job) F(INT, others)

/* code: why it did not start (keel/sched_reason.def), what: the resource, limit or vnode it lacks; qrun: 1,
 * an administrator wants it to start now */
#define KEEL_FIELDS_preempt_victims(F) F(STR, id) F(OBJ, job) F(INT, code) F(STR, reason) F(STR, what) F(INT, qrun)
#define KEEL_FIELDS_job_preempt(F) F(STR, id) F(OBJ, job) F(STR, method) F(STR, who)
#define KEEL_FIELDS_job_preempted(F) F(STR, id) F(OBJ, job) F(STR, method) F(STR, who)

#define KEEL_FIELDS_host_start(F) F(STR, host)
#define KEEL_FIELDS_task_begin(F) F(STR, id) F(STR, user)
#define KEEL_FIELDS_task_launch(F) F(STR, id) F(STR, user)
/* number: of the task in its run, PBS_TASKNUM */
#define KEEL_FIELDS_task_spawn(F) F(STR, id) F(STR, user) F(INT, number)
#define KEEL_FIELDS_task_suspended(F) F(STR, id)
#define KEEL_FIELDS_task_resume(F) F(STR, id)
#define KEEL_FIELDS_task_preterm(F) F(STR, id)
#define KEEL_FIELDS_task_end(F) F(STR, id) F(INT, exit_status)
/* index: of this host among those of the job, 0 is the primary */
#define KEEL_FIELDS_task_prologue(F) F(STR, id) F(STR, user) F(INT, index)
#define KEEL_FIELDS_task_epilogue(F) F(STR, id) F(INT, index) F(INT, exit_status)
#define KEEL_FIELDS_task_act(F) F(STR, id) F(STR, name)
#define KEEL_FIELDS_task_attach(F) F(STR, id) F(INT, pid)
#define KEEL_FIELDS_task_resize(F) F(STR, id) F(INT, index)
#define KEEL_FIELDS_task_abort(F) F(STR, id) F(INT, index)
#define KEEL_STAGE_JOIN "join" /* of task_lost: what the job was at */
#define KEEL_STAGE_PROLOGUE "prologue"
#define KEEL_STAGE_RUN "run"
#define KEEL_STAGE_END "end"
#define KEEL_FIELDS_start_alarm(F) F(STR, stage)
#define KEEL_FIELDS_task_lost(F) F(STR, id) F(STR, host) F(STR, stage) F(INT, code) F(STR, text)

#endif
