/* SPDX-License-Identifier: Apache-2.0
 *
 * pbs_ifl.h - the client library: types, names and calls. Link with -lpbs.
 *
 * A connection is a small positive int. Every call sets pbs_errno of the calling thread (0 is
 * success) and the text of the connection (pbs_geterrmsg). Use one connection from one thread at a
 * time. Unless said otherwise a string may be NULL or "", strings given are only read, and a value
 * that is returned is freed by the caller with free(). The order of members and the values of
 * enumerations are the ABI.
 */
#ifndef PBS_IFL_H
#define PBS_IFL_H

#ifdef __cplusplus
extern "C" {
#endif
#ifdef __GNUC__
#pragma GCC visibility push(default)
#endif

/* Attributes of jobs: submit and alter. */
#define ATTR_a "Execution_Time"
#define ATTR_c "Checkpoint"
#define ATTR_e "Error_Path"
#define ATTR_f "Forward_X11"
#define ATTR_g "group_list"
#define ATTR_h "Hold_Types"
#define ATTR_j "Join_Path"
#define ATTR_J "array_indices_submitted"
#define ATTR_k "Keep_Files"
#define ATTR_l "Resource_List"
#define ATTR_l_orig "Resource_List_orig"
#define ATTR_l_acct "Resource_List_acct"
#define ATTR_m "Mail_Points"
#define ATTR_o "Output_Path"
#define ATTR_p "Priority"
#define ATTR_q "destination"
#define ATTR_R "Remove_Files"
#define ATTR_r "Rerunable"
#define ATTR_u "User_List"
#define ATTR_v "Variable_List"
#define ATTR_A "Account_Name"
#define ATTR_M "Mail_Users"
#define ATTR_N "Job_Name"
#define ATTR_S "Shell_Path_List"
#define ATTR_depend "depend"
#define ATTR_inter "interactive"
#define ATTR_sandbox "sandbox"
#define ATTR_stagein "stagein"
#define ATTR_stageout "stageout"
#define ATTR_block "block"
#define ATTR_umask "umask"
#define ATTR_cred "cred"
#define ATTR_credential_id "credential_id"
#define ATTR_credential_validity "credential_validity"
#define ATTR_security "security"
#define ATTR_project "project"
#define ATTR_max_run_subjobs "max_run_subjobs"
#define ATTR_X11_cookie "forward_x11_cookie"
#define ATTR_X11_port "forward_x11_port"
#define ATTR_GUI "gui"
#define ATTR_nodemux "no_stdio_sockets"
#define ATTR_runcount "run_count"
#define ATTR_submit_arguments "Submit_arguments"
#define ATTR_executable "executable"
#define ATTR_Arglist "argument_list"
#define ATTR_relnodes_on_stageout "release_nodes_on_stageout"
#define ATTR_tolerate_node_failures "tolerate_node_failures"
#define ATTR_create_resv_from_job "create_resv_from_job"
#define ATTR_gridname "gridname"
#define ATTR_submit_host "Submit_Host"

/* Attributes of jobs: read. */
#define ATTR_ctime "ctime"
#define ATTR_estimated "estimated"
#define ATTR_exechost "exec_host"
#define ATTR_exechost2 "exec_host2"
#define ATTR_exechost_acct "exec_host_acct"
#define ATTR_exechost_orig "exec_host_orig"
#define ATTR_execvnode "exec_vnode"
#define ATTR_execvnode_acct "exec_vnode_acct"
#define ATTR_execvnode_deallocated "exec_vnode_deallocated"
#define ATTR_execvnode_orig "exec_vnode_orig"
#define ATTR_mtime "mtime"
#define ATTR_qtime "qtime"
#define ATTR_etime "etime"
#define ATTR_stime "stime"
#define ATTR_obittime "obittime"
#define ATTR_session "session_id"
#define ATTR_jobdir "jobdir"
#define ATTR_euser "euser"
#define ATTR_egroup "egroup"
#define ATTR_hashname "hashname"
#define ATTR_hopcount "hop_count"
#define ATTR_name "Job_Name"
#define ATTR_owner "Job_Owner"
#define ATTR_qrank "queue_rank"
#define ATTR_queue "queue"
#define ATTR_server "server"
#define ATTR_state "job_state"
#define ATTR_substate "substate"
#define ATTR_used "resources_used"
#define ATTR_used_acct "resources_used_acct"
#define ATTR_used_update "resources_used_update"
#define ATTR_released "resources_released"
#define ATTR_rel_list "resource_released_list"
#define ATTR_comment "comment"
#define ATTR_cookie "cookie"
#define ATTR_altid "alt_id"
#define ATTR_altid2 "alt_id2"
#define ATTR_acct_id "accounting_id"
#define ATTR_array "array"
#define ATTR_array_id "array_id"
#define ATTR_array_index "array_index"
#define ATTR_array_state_count "array_state_count"
#define ATTR_array_indices_remaining "array_indices_remaining"
#define ATTR_array_indices_submitted "array_indices_submitted"
#define ATTR_exit_status "Exit_status"
#define ATTR_stageout_status "Stageout_status"
#define ATTR_history_timestamp "history_timestamp"
#define ATTR_eligible_time "eligible_time"
#define ATTR_accrue_type "accrue_type"
#define ATTR_sample_starttime "sample_starttime"
#define ATTR_job_kill_delay "job_kill_delay"
#define ATTR_prov_vnode "prov_vnode"
#define ATTR_run_version "run_version"
#define ATTR_SchedSelect "schedselect"
#define ATTR_sched_hint "sched_hint"
#define ATTR_topjob "topjob"
#define ATTR_topjob_ineligible "topjob_ineligible"
#define ATTR_node_set "node_set"
#define ATTR_pset "pset"

/* Attributes of reservations. */
#define ATTR_resv "reserve"
#define ATTR_resv_name "Reserve_Name"
#define ATTR_resv_owner "Reserve_Owner"
#define ATTR_resv_type "reserve_type"
#define ATTR_resv_state "reserve_state"
#define ATTR_resv_substate "reserve_substate"
#define ATTR_resv_start "reserve_start"
#define ATTR_resv_end "reserve_end"
#define ATTR_resv_duration "reserve_duration"
#define ATTR_resv_count "reserve_count"
#define ATTR_resv_idx "reserve_index"
#define ATTR_resv_rrule "reserve_rrule"
#define ATTR_resv_timezone "reserve_timezone"
#define ATTR_resv_standing "reserve_standing"
#define ATTR_resv_execvnodes "reserve_execvnodes"
#define ATTR_resv_retry "reserve_retry"
#define ATTR_resv_job "reserve_job"
#define ATTR_resv_ID "reserve_ID"
#define ATTR_resvTag "reserve_Tag"
#define ATTR_resv_nodes "resv_nodes"
#define ATTR_convert "qmove"
#define ATTR_del_idle_time "delete_idle_time"
#define ATTR_auth_u "Authorized_Users"
#define ATTR_auth_g "Authorized_Groups"
#define ATTR_auth_h "Authorized_Hosts"
#define ATTR_partition "partition"

/* Access lists and privilege. */
#define ATTR_aclgren "acl_group_enable"
#define ATTR_aclgroup "acl_groups"
#define ATTR_aclhten "acl_host_enable"
#define ATTR_aclhost "acl_hosts"
#define ATTR_acl_host_moms_enable "acl_host_moms_enable"
#define ATTR_acluren "acl_user_enable"
#define ATTR_acluser "acl_users"
#define ATTR_aclroot "acl_roots"
#define ATTR_aclResvhten "acl_resv_host_enable"
#define ATTR_aclResvhost "acl_resv_hosts"
#define ATTR_aclResvgren "acl_resv_group_enable"
#define ATTR_aclResvgroup "acl_resv_groups"
#define ATTR_aclResvuren "acl_resv_user_enable"
#define ATTR_aclResvuser "acl_resv_users"
#define ATTR_acl_krb_realm_enable "acl_krb_realm_enable"
#define ATTR_acl_krb_realms "acl_krb_realms"
#define ATTR_acl_krb_submit_realms "acl_krb_submit_realms"
#define ATTR_managers "managers"
#define ATTR_operators "operators"

/* Limits. */
#define ATTR_maxque "max_queuable"
#define ATTR_maxrun "max_running"
#define ATTR_maxuserrun "max_user_run"
#define ATTR_maxgrprun "max_group_run"
#define ATTR_maxuserres "max_user_res"
#define ATTR_maxgroupres "max_group_res"
#define ATTR_maxuserrunsoft "max_user_run_soft"
#define ATTR_maxgrprunsoft "max_group_run_soft"
#define ATTR_maxuserressoft "max_user_res_soft"
#define ATTR_maxgroupressoft "max_group_res_soft"
#define ATTR_max_run "max_run"
#define ATTR_max_run_res "max_run_res"
#define ATTR_max_run_soft "max_run_soft"
#define ATTR_max_run_res_soft "max_run_res_soft"
#define ATTR_max_queued "max_queued"
#define ATTR_max_queued_res "max_queued_res"
#define ATTR_queued_jobs_threshold "queued_jobs_threshold"
#define ATTR_queued_jobs_threshold_res "queued_jobs_threshold_res"
#define ATTR_maxarraysize "max_array_size"

/* Attributes of servers and queues. */
#define ATTR_status "server_state"
#define ATTR_SvrHost "server_host"
#define ATTR_scheduling "scheduling"
#define ATTR_total "total_jobs"
#define ATTR_count "state_count"
#define ATTR_dfltque "default_queue"
#define ATTR_logevents "log_events"
#define ATTR_mailer "mailer"
#define ATTR_mailfrom "mail_from"
#define ATTR_queryother "query_other_jobs"
#define ATTR_rescavail "resources_available"
#define ATTR_rescassn "resources_assigned"
#define ATTR_rescdflt "resources_default"
#define ATTR_rescmax "resources_max"
#define ATTR_rescmin "resources_min"
#define ATTR_rescost "resources_cost"
#define ATTR_syscost "system_cost"
#define ATTR_resv_retry_time "reserve_retry_time"
#define ATTR_resv_retry_init "reserve_retry_init"
#define ATTR_resv_post_processing "resv_post_processing_time"
#define ATTR_DefaultChunk "default_chunk"
#define ATTR_schediteration "scheduler_iteration"
#define ATTR_defnode "default_node"
#define ATTR_nodepack "node_pack"
#define ATTR_FlatUID "flatuid"
#define ATTR_ResvEnable "resv_enable"
#define ATTR_NodeFailReq "node_fail_requeue"
#define ATTR_ResendTermDelay "resend_term_delay"
#define ATTR_NodeGroupEnable "node_group_enable"
#define ATTR_NodeGroupKey "node_group_key"
#define ATTR_dfltqdelargs "default_qdel_arguments"
#define ATTR_dfltqsubargs "default_qsub_arguments"
#define ATTR_rpp_retry "rpp_retry"
#define ATTR_rpp_highwater "rpp_highwater"
#define ATTR_rpp_max_pkt_check "rpp_max_pkt_check"
#define ATTR_license_count "license_count"
#define ATTR_license_min "pbs_license_min"
#define ATTR_license_max "pbs_license_max"
#define ATTR_license_linger "pbs_license_linger_time"
#define ATTR_pbs_license_info "pbs_license_info"
#define ATTR_version "pbs_version"
#define ATTR_job_sort_formula "job_sort_formula"
#define ATTR_job_sort_formula_threshold "job_sort_formula_threshold"
#define ATTR_EligibleTimeEnable "eligible_time_enable"
#define ATTR_JobHistoryEnable "job_history_enable"
#define ATTR_JobHistoryDuration "job_history_duration"
#define ATTR_ProvisionEnable "provision_enable"
#define ATTR_provision_timeout "provision_timeout"
#define ATTR_max_concurrent_prov "max_concurrent_provision"
#define ATTR_backfill_depth "backfill_depth"
#define ATTR_clear_est_enable "clear_topjob_estimates_enable"
#define ATTR_job_requeue_timeout "job_requeue_timeout"
#define ATTR_python_restart_max_hooks "python_restart_max_hooks"
#define ATTR_python_restart_max_objects "python_restart_max_objects"
#define ATTR_python_restart_min_interval "python_restart_min_interval"
#define ATTR_jobscript_max_size "jobscript_max_size"
#define ATTR_restrict_res_to_release_on_suspend "restrict_res_to_release_on_suspend"
#define ATTR_PowerProvisioning "power_provisioning"
#define ATTR_show_hidden_attribs "show_hidden_attribs"
#define ATTR_sync_mom_hookfiles_timeout "sync_mom_hookfiles_timeout"
#define ATTR_max_job_sequence_id "max_job_sequence_id"
#define ATTR_has_runjob_hook "has_runjob_hook"
#define ATTR_cred_renew_enable "cred_renew_enable"
#define ATTR_cred_renew_tool "cred_renew_tool"
#define ATTR_cred_renew_period "cred_renew_period"
#define ATTR_cred_renew_cache_period "cred_renew_cache_period"
#define ATTR_require_cred "require_cred"
#define ATTR_require_cred_enable "require_cred_enable"
#define ATTR_pnames "pnames"
#define ATTR_enable "enabled"
#define ATTR_start "started"
#define ATTR_qtype "queue_type"
#define ATTR_altrouter "alt_router"
#define ATTR_routedest "route_destinations"
#define ATTR_routeheld "route_held_jobs"
#define ATTR_routewait "route_waiting_jobs"
#define ATTR_routeretry "route_retry_time"
#define ATTR_routelife "route_lifetime"
#define ATTR_fromroute "from_route_only"
#define ATTR_killdelay "kill_delay"
#define ATTR_chkptmin "checkpoint_min"
#define ATTR_HasNodes "hasnodes"
#define ATTR_rndzretry "rendezvous_retry"
#define ATTR_rsvexpdt "reserved_expedite"
#define ATTR_rsvsync "reserved_sync"
#define ATTR_max_starve "max_starve"
#define ATTR_locsvrs "location_servers"

/* Attributes of schedulers. */
#define ATTR_SchedHost "sched_host"
#define ATTR_sched_cycle_len "sched_cycle_length"
#define ATTR_do_not_span_psets "do_not_span_psets"
#define ATTR_only_explicit_psets "only_explicit_psets"
#define ATTR_sched_preempt_enforce_resumption "sched_preempt_enforce_resumption"
#define ATTR_preempt_targets_enable "preempt_targets_enable"
#define ATTR_preempt_queue_prio "preempt_queue_prio"
#define ATTR_preempt_prio "preempt_prio"
#define ATTR_preempt_order "preempt_order"
#define ATTR_preempt_sort "preempt_sort"
#define ATTR_throughput_mode "throughput_mode"
#define ATTR_job_run_wait "job_run_wait"
#define ATTR_opt_backfill_fuzzy "opt_backfill_fuzzy"
#define ATTR_sched_priv "sched_priv"
#define ATTR_sched_log "sched_log"
#define ATTR_sched_user "sched_user"
#define ATTR_sched_state "state"
#define ATTR_sched_server_dyn_res_alarm "server_dyn_res_alarm"
#define ATTR_attr_update_period "attr_update_period"

/* Attributes of nodes. */
#define ATTR_NODE_Host "Host"
#define ATTR_NODE_Mom "Mom"
#define ATTR_NODE_Port "Port"
#define ATTR_NODE_state "state"
#define ATTR_NODE_ntype "ntype"
#define ATTR_NODE_jobs "jobs"
#define ATTR_NODE_resvs "resv"
#define ATTR_NODE_resv_enable "resv_enable"
#define ATTR_NODE_np "np"
#define ATTR_NODE_pcpus "pcpus"
#define ATTR_NODE_properties "properties"
#define ATTR_NODE_NoMultiNode "no_multinode_jobs"
#define ATTR_NODE_No_Tasks "no_tasks"
#define ATTR_NODE_Sharing "sharing"
#define ATTR_NODE_ProvisionEnable "provision_enable"
#define ATTR_NODE_current_aoe "current_aoe"
#define ATTR_NODE_current_eoe "current_eoe"
#define ATTR_NODE_power_provisioning "power_provisioning"
#define ATTR_NODE_poweroff_eligible "poweroff_eligible"
#define ATTR_NODE_in_multivnode_host "in_multivnode_host"
#define ATTR_NODE_License "license"
#define ATTR_NODE_LicenseInfo "license_info"
#define ATTR_NODE_TopologyInfo "topology_info"
#define ATTR_NODE_MaintJobs "maintenance_jobs"
#define ATTR_NODE_VnodePool "vnode_pool"
#define ATTR_NODE_last_state_change_time "last_state_change_time"
#define ATTR_NODE_last_used_time "last_used_time"

/* Attributes of resources and hooks. */
#define ATTR_RESC_TYPE "type"
#define ATTR_RESC_FLAG "flag"
#define RESC_TYPE "type"
#define RESC_FLAG "flag"
#define ATTR_HOOK_type "type"
#define ATTR_HOOK_enable "enabled"
#define ATTR_HOOK_event "event"
#define ATTR_HOOK_user "user"
#define ATTR_HOOK_alarm "alarm"
#define ATTR_HOOK_freq "freq"
#define ATTR_HOOK_order "order"
#define ATTR_HOOK_debug "debug"
#define ATTR_HOOK_fail_action "fail_action"

/* Kinds of holds, and values that stand for "nothing said". */
#define USER_HOLD "u"
#define OTHER_HOLD "o"
#define SYSTEM_HOLD "s"
#define BAD_PASSWORD_HOLD "p"
#define NO_HOLD "n"
#define CHECKPOINT_UNSPECIFIED "u"
#define NO_JOIN "n"
#define NO_KEEP "n"
#define MAIL_AT_ABORT "a"

/* Words in `extend`. */
#define FORCE "force"
#define FORCEDEL "force"
#define NOMAIL "nomail"
#define SUPPRESS_EMAIL "suppress_email"
#define DELETEHISTORY "deletehist"
#define SITE_HOOK "hook"
#define PBS_HOOK "pbshook"

/* pbs_msgjob: files, may be or-ed. */
#define MSG_OUT 1
#define MSG_ERR 2

/* pbs_terminate: manner, may be or-ed with what else is to end. */
#define SHUT_IMMEDIATE 0
#define SHUT_DELAY 1
#define SHUT_QUICK 2
#define SHUT_WHO_SCHED 0x10
#define SHUT_WHO_MOM 0x20
#define SHUT_WHO_SECDRY 0x40
#define SHUT_WHO_IDLESECDRY 0x80
#define SHUT_WHO_SECDONLY 0x100

/* Lengths without the final NUL. */
#define PBS_MAXUSER 256
#define PBS_MAXPWLEN 256
#define PBS_MAXGRPN 256
#define PBS_MAXHOSTNAME 255
#define PBS_MAXSERVERNAME 255
#define PBS_MAXQUEUENAME 15
#define PBS_MAXQRESVNAME PBS_MAXQUEUENAME
#define PBS_MAXSCHEDNAME 15
#define PBS_MAXJOBNAME 230
#define PBS_MAXSEQNUM 12
#define PBS_DFLT_MAX_JOB_SEQUENCE_ID 9999999
#define PBS_MAXPORTNUM 5
#define PBS_MAXDEST 256
#define PBS_MAXIP_LEN 15
#define PBS_MAXSVRJOBID (PBS_MAXSEQNUM + 1 + PBS_MAXSERVERNAME + 1 + PBS_MAXPORTNUM + 25)
#define PBS_MAXSVRRESVID PBS_MAXSVRJOBID
#define PBS_MAXCLTJOBID (PBS_MAXSVRJOBID + 1 + PBS_MAXSERVERNAME + 1 + PBS_MAXPORTNUM)
#define PBS_MAXROUTEDEST (PBS_MAXQUEUENAME + 1 + PBS_MAXSERVERNAME + 1 + PBS_MAXPORTNUM)

#define RESOURCE_T_NULL 0
#define RESOURCE_T_ALL (-1)
typedef int pbs_resource_t;

enum batch_op {
	SET = 0,
	UNSET = 1,
	INCR = 2,
	DECR = 3,
	EQ = 4,
	NE = 5,
	GE = 6,
	GT = 7,
	LE = 8,
	LT = 9,
	DFLT = 10,
	INTERNAL = 11,
};

enum mgr_cmd {
	MGR_CMD_NONE = -1,
	MGR_CMD_CREATE = 0,
	MGR_CMD_DELETE = 1,
	MGR_CMD_SET = 2,
	MGR_CMD_UNSET = 3,
	MGR_CMD_LIST = 4,
	MGR_CMD_PRINT = 5,
	MGR_CMD_ACTIVE = 6,
	MGR_CMD_IMPORT = 7,
	MGR_CMD_EXPORT = 8,
	MGR_CMD_LAST = 9,
};

enum mgr_obj {
	MGR_OBJ_NONE = -1,
	MGR_OBJ_SERVER = 0,
	MGR_OBJ_QUEUE = 1,
	MGR_OBJ_JOB = 2,
	MGR_OBJ_NODE = 3,
	MGR_OBJ_RESV = 4,
	MGR_OBJ_RSC = 5,
	MGR_OBJ_SCHED = 6,
	MGR_OBJ_HOST = 7,
	MGR_OBJ_HOOK = 8,
	MGR_OBJ_PBS_HOOK = 9,
	MGR_OBJ_JOBARRAY_PARENT = 10,
	MGR_OBJ_SUBJOB = 11,
	MGR_OBJ_LAST = 12,
};
#define MGR_OBJ_SITE_HOOK MGR_OBJ_HOOK

enum preempt_method {
	PREEMPT_METHOD_LOW = 0,
	PREEMPT_METHOD_SUSPEND = 1,
	PREEMPT_METHOD_CHECKPOINT = 2,
	PREEMPT_METHOD_REQUEUE = 3,
	PREEMPT_METHOD_DELETE = 4,
	PREEMPT_METHOD_HIGH = 5,
};

enum resv_states {
	RESV_NONE = 0,
	RESV_UNCONFIRMED = 1,
	RESV_CONFIRMED = 2,
	RESV_WAIT = 3,
	RESV_TIME_TO_RUN = 4,
	RESV_RUNNING = 5,
	RESV_FINISHED = 6,
	RESV_BEING_DELETED = 7,
	RESV_DELETED = 8,
	RESV_DELETING_JOBS = 9,
	RESV_DEGRADED = 10,
	RESV_BEING_ALTERED = 11,
	RESV_IN_CONFLICT = 12,
};

/* attrl and attropl have one layout: callers cast between them. */
struct attrl {
	struct attrl *next;
	char *name;
	char *resource;
	char *value;
	enum batch_op op; /* not used */
};

struct attropl {
	struct attropl *next;
	char *name;
	char *resource;
	char *value;
	enum batch_op op;
};

/* Freed whole by pbs_statfree, and by nothing else: members share one block. */
struct batch_status {
	struct batch_status *next;
	char *name;
	struct attrl *attribs;
	char *text;
};

struct batch_deljob_status {
	struct batch_deljob_status *next;
	char *name;
	int code;
};

struct ecl_attrerr {
	struct attropl *ecl_attribute;
	int ecl_errcode;
	char *ecl_errmsg;
};

struct ecl_attribute_errors {
	int ecl_numerrors;
	struct ecl_attrerr *ecl_attrerr;
};

typedef struct preempt_job_info {
	char job_id[PBS_MAXSVRJOBID + 1];
	char order[6];
} preempt_job_info;

/* Values of the calling thread. */
int *__pbs_errno_location(void);
char *__pbs_server_location(void);
#define pbs_errno (*__pbs_errno_location())
#define pbs_server (__pbs_server_location())

/* Connections. pbs_connect: a handle > 0, or negative with pbs_errno. pbs_default: of the thread.
 * A handle outlives a server that restarts in order: a call waits up to 60 s for it (then 15034), and what the server had
 * not begun is done by the new one. 15060: it had begun, or its listing was cut: look at the object. */
int pbs_connect(const char *server);
int pbs_connect_extend(const char *server, const char *extend);
int pbs_disconnect(int c);
char *pbs_default(void);
int pbs_loadconf(int reload); /* 1: done, 0: failed */

/* Text of the last error of `c`, or NULL; valid until the next call on it. `c` below 0: why this thread's last pbs_connect
 * failed, where there is more to say than its number. */
char *pbs_geterrmsg(int c);

/* What the check before sending refused, or NULL; owned by the library until the next call. */
struct ecl_attribute_errors *pbs_get_attributes_in_error(int c);

/* Jobs. int calls answer 0 or the error; pbs_submit the id. */
char *pbs_submit(int c, struct attropl *attrib, const char *script, const char *destination,
		 const char *extend);
int pbs_alterjob(int c, const char *id, struct attrl *attrib, const char *extend);
int pbs_asyalterjob(int c, const char *id, struct attrl *attrib, const char *extend);
int pbs_deljob(int c, const char *id, const char *extend);
struct batch_deljob_status *pbs_deljoblist(int c, char **ids, int n, const char *extend);
void pbs_delstatfree(struct batch_deljob_status *list);
int pbs_holdjob(int c, const char *id, const char *holds, const char *extend);
int pbs_rlsjob(int c, const char *id, const char *holds, const char *extend);
int pbs_movejob(int c, const char *id, const char *destination, const char *extend);
int pbs_msgjob(int c, const char *id, int fileopt, const char *msg, const char *extend);
int pbs_orderjob(int c, const char *id1, const char *id2, const char *extend);
int pbs_rerunjob(int c, const char *id, const char *extend);
int pbs_runjob(int c, const char *id, const char *location, const char *extend);
int pbs_asyrunjob(int c, const char *id, const char *location, const char *extend);
int pbs_asyrunjob_ack(int c, const char *id, const char *location, const char *extend);
int pbs_sigjob(int c, const char *id, const char *signal, const char *extend);
char *pbs_locjob(int c, const char *id, const char *extend);
int pbs_stagein(int c, const char *id, const char *location, const char *extend);
int pbs_relnodesjob(int c, const char *id, const char *vnodes, const char *extend);
preempt_job_info *pbs_preempt_jobs(int c, char **ids);

/* Ids that match, NULL-terminated: each string and the array are freed by the caller. */
char **pbs_selectjob(int c, struct attropl *select, const char *extend);

/* Status. `want` NULL is everything. NULL with pbs_errno 0: nothing matched. */
struct batch_status *pbs_selstat(int c, struct attropl *select, struct attrl *want,
				 const char *extend);
struct batch_status *pbs_statjob(int c, const char *id, struct attrl *want, const char *extend);
struct batch_status *pbs_statque(int c, const char *id, struct attrl *want, const char *extend);
struct batch_status *pbs_statserver(int c, struct attrl *want, const char *extend);
struct batch_status *pbs_statsched(int c, struct attrl *want, const char *extend);
struct batch_status *pbs_stathost(int c, const char *id, struct attrl *want, const char *extend);
struct batch_status *pbs_statnode(int c, const char *id, struct attrl *want, const char *extend);
struct batch_status *pbs_statvnode(int c, const char *id, struct attrl *want, const char *extend);
struct batch_status *pbs_statresv(int c, const char *id, struct attrl *want, const char *extend);
struct batch_status *pbs_statrsc(int c, const char *id, struct attrl *want, const char *extend);
struct batch_status *pbs_stathook(int c, const char *id, struct attrl *want, const char *extend);
void pbs_statfree(struct batch_status *list);

/* Management. */
int pbs_manager(int c, int cmd, int obj, const char *name, struct attropl *attrib,
		const char *extend);
int pbs_terminate(int c, int manner, const char *extend);

/* Reservations. What is returned is the server's text, as "R12.svr UNCONFIRMED", which the caller frees; NULL: an error. An
 * `extend` of pbs_submit_resv that begins with "m" asks for maintenance, one of pbs_modify_resv is "force". A server without
 * reservations: PBSE_NOSUP. */
char *pbs_submit_resv(int c, struct attropl *attrib, const char *extend);
char *pbs_modify_resv(int c, const char *id, struct attropl *attrib, const char *extend);
int pbs_delresv(int c, const char *id, const char *extend);
int pbs_confirmresv(int c, const char *id, const char *location, unsigned long start,
		    const char *extend);

/* Old calls; each answers PBSE_NOSUP. */
int pbs_rescquery(int c, char **list, int n, int *available, int *allocated, int *reserved,
		  int *down);
int pbs_rescreserve(int c, char **list, int n, pbs_resource_t *handle);
int pbs_rescrelease(int c, pbs_resource_t handle);

/* Extensions of this library. */

/* Objects of `klass` ("job" "queue" "server" "node" "resource" "sched" "hook" "resv") one by one as
 * they arrive, so a list of any length needs the memory of one. `one` is freed after `each`
 * returns; a value other than 0 stops: the rest is read and dropped. Answers what `each` said, or
 * the error (pbs_errno), or 0. `select` NULL: every object `id` names. */
int pbs_stat_each(int c, const char *klass, const char *id, struct attropl *select,
		  struct attrl *want, const char *extend,
		  int (*each)(struct batch_status *one, void *arg), void *arg);

/* The value of a key of pbs.conf as in force (the environment wins); the caller frees it. NULL: not set. */
char *pbs_conf_value(const char *key);

/* Wait until job `id` has ended. 0: *ret_exit is its status; *ret_text, when not NULL, is a
 * malloc'ed sentence why it never ran (then *ret_exit says nothing). Else the error; EINTR when a
 * signal handler ran meanwhile (the connection stays usable). A server that ends or restarts is waited for. */
int pbs_waitjob(int c, const char *id, int *ret_exit, char **ret_text);

/* A verb for administrators ("check", "modules", "hooks", ...); `args` ends with NULL, or is NULL.
 * The lines of the answer, NULL-terminated: each string and the array are freed by the caller.
 * NULL: error. */
char **pbs_admin(int c, const char *verb, char **args, const char *extend);

#ifdef __GNUC__
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif

#endif
