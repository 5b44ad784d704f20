// Made by `make web-types` from openapi.json. Change the routes, not this file.
export interface paths {
    "/api/login": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Make Login Link */
        post: operations["make_login_link_api_login_post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/session": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Show Session */
        get: operations["show_session_api_session_get"];
        put?: never;
        /** Open Session */
        post: operations["open_session_api_session_post"];
        /** Close Session */
        delete: operations["close_session_api_session_delete"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/tokens": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List Tokens */
        get: operations["list_tokens_api_tokens_get"];
        put?: never;
        /** Create Token */
        post: operations["create_token_api_tokens_post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/tokens/{identifier}/revoke": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Revoke Token */
        post: operations["revoke_token_api_tokens__identifier__revoke_post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/passkeys": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List Passkeys */
        get: operations["list_passkeys_api_passkeys_get"];
        put?: never;
        /** Enroll Passkey */
        post: operations["enroll_passkey_api_passkeys_post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/passkeys/{identifier}/revoke": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Revoke Passkey */
        post: operations["revoke_passkey_api_passkeys__identifier__revoke_post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/passkeys/enrolments": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Start Enrolment */
        post: operations["start_enrolment_api_passkeys_enrolments_post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/passkeys/enrolments/candidate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Show Candidate */
        post: operations["show_candidate_api_passkeys_enrolments_candidate_post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/passkeys/enrolments/options": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Creation Options */
        post: operations["creation_options_api_passkeys_enrolments_options_post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/passkeys/enrolments/made": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Keep Made Passkey */
        post: operations["keep_made_passkey_api_passkeys_enrolments_made_post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/passkeys/enrolments/outcome": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Show Outcome */
        post: operations["show_outcome_api_passkeys_enrolments_outcome_post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/passkeys/enrolments/session": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Open Session After Enrolment
         * @description Let whoever enrolled in, once: the link is as good as one of `astra login`, no better.
         */
        post: operations["open_session_after_enrolment_api_passkeys_enrolments_session_post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/session/challenge": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Login Challenge */
        post: operations["login_challenge_api_session_challenge_post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/session/passkey": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Open Session With Passkey */
        post: operations["open_session_with_passkey_api_session_passkey_post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/statements": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Draft Statement
         * @description Write the statement of a decision, for a passkey to sign: its challenge is its hash.
         */
        post: operations["draft_statement_api_statements_post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/devices": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List Devices */
        get: operations["list_devices_api_devices_get"];
        put?: never;
        /** Subscribe Device */
        post: operations["subscribe_device_api_devices_post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/devices/{identifier}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /** Unsubscribe Device */
        delete: operations["unsubscribe_device_api_devices__identifier__delete"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/healthz": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Healthz */
        get: operations["healthz_healthz_get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/metrics": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Show Metrics */
        get: operations["show_metrics_metrics_get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/status": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Status */
        get: operations["status_api_status_get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/budgets": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List Budgets */
        get: operations["list_budgets_api_budgets_get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/down": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Down */
        post: operations["down_api_down_post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/metrics": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Count Days */
        get: operations["count_days_api_metrics_get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/metrics/{name}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List Counted
         * @description List the records that a number counts, the newest first.
         */
        get: operations["list_counted_api_metrics__name__get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/spend": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Show Spend */
        get: operations["show_spend_api_spend_get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/stop": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Show Stop */
        get: operations["show_stop_api_stop_get"];
        put?: never;
        /** Stop All */
        post: operations["stop_all_api_stop_post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/stop/record": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Record Stop */
        post: operations["record_stop_api_stop_record_post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/machines": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Show Machines */
        get: operations["show_machines_api_machines_get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/machines/{identifier}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /** Forget Machine */
        delete: operations["forget_machine_api_machines__identifier__delete"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/start": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Start Again */
        post: operations["start_again_api_start_post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/workers": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Show Workers */
        get: operations["show_workers_api_workers_get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/restore": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Show Restore */
        get: operations["show_restore_api_restore_get"];
        put?: never;
        /**
         * Sign Restore
         * @description Go on from here. Open approvals, tokens and sessions are void, and work is stopped.
         */
        post: operations["sign_restore_api_restore_post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/sandbox": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Show Sandbox
         * @description Say what is in force, after the check that may still be under way.
         */
        get: operations["show_sandbox_api_sandbox_get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/sandbox/off-unsafe": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Allow Off */
        post: operations["allow_off_api_sandbox_off_unsafe_post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/sandbox/on": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Turn On */
        post: operations["turn_on_api_sandbox_on_post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/clock": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Show Clock */
        get: operations["show_clock_api_clock_get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/clock/accept": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Accept Clock
         * @description Let the ledger's time go back to the clock's. What was given for a time is over.
         */
        post: operations["accept_clock_api_clock_accept_post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/ledger/archive/plan": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Plan Archive
         * @description Say which months would leave, and what that saves; nothing is changed.
         */
        post: operations["plan_archive_api_ledger_archive_plan_post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/ledger/archive": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Move To Archive
         * @description Move finished months into an archive; what stays of them is what was signed.
         */
        post: operations["move_to_archive_api_ledger_archive_post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/flags": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List Flags */
        get: operations["list_flags_api_flags_get"];
        put?: never;
        /**
         * Set Flag
         * @description Set a flag. Off is free and never refused; on is refused to who saw it as it was.
         */
        post: operations["set_flag_api_flags_post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/config": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Show Configuration */
        get: operations["show_configuration_api_config_get"];
        put?: never;
        /** Sign Configuration */
        post: operations["sign_configuration_api_config_post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/config/check": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Check Configuration
         * @description Try astra.toml as it lies in the data root, signed or not, in boxes.
         */
        post: operations["check_configuration_api_config_check_post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/operator": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Show Operator */
        get: operations["show_operator_api_operator_get"];
        put?: never;
        /** Rotate Operator */
        post: operations["rotate_operator_api_operator_post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/operators": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List Operators */
        get: operations["list_operators_api_operators_get"];
        put?: never;
        /**
         * Change Operators
         * @description Record a change of operators, roles or rules; 202 while signatures are missing.
         */
        post: operations["change_operators_api_operators_post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/ledger": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List Records */
        get: operations["list_records_api_ledger_get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/ledger/head": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Head
         * @description Give the newest record that no crash takes back.
         */
        get: operations["head_api_ledger_head_get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/ledger/story/{identifier}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Story */
        get: operations["story_api_ledger_story__identifier__get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/ledger/rebuild": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Rebuild */
        post: operations["rebuild_api_ledger_rebuild_post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Follow Events */
        get: operations["follow_events_api_events_get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/ledger/verify": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Verify Ledger */
        post: operations["verify_ledger_api_ledger_verify_post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/tools": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List Tools */
        get: operations["list_tools_api_tools_get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/tools/{name}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Call Tool */
        post: operations["call_tool_api_tools__name__post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/approvals": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List Approvals */
        get: operations["list_approvals_api_approvals_get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/approvals/{identifier}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Show Approval */
        get: operations["show_approval_api_approvals__identifier__get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/approvals/{identifier}/check": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Check Approval
         * @description Refuse at once what a signature on these terms would be refused for; decides nothing.
         */
        post: operations["check_approval_api_approvals__identifier__check_post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/approvals/{identifier}/approve": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Approve */
        post: operations["approve_api_approvals__identifier__approve_post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/approvals/{identifier}/reject": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Reject */
        post: operations["reject_api_approvals__identifier__reject_post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/inbox": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List Inbox
         * @description List everything that waits for a person; every door counts the same things.
         */
        get: operations["list_inbox_api_inbox_get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/permissions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List Permissions
         * @description List the standing permissions, and what is left of each.
         */
        get: operations["list_permissions_api_permissions_get"];
        put?: never;
        /** Add Permission */
        post: operations["add_permission_api_permissions_post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/permissions/content": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Spell Permission
         * @description Give what the operator would sign for a permission.
         */
        get: operations["spell_permission_api_permissions_content_get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/permissions/{identifier}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /** Remove Permission */
        delete: operations["remove_permission_api_permissions__identifier__delete"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/merge-permissions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List Merge Permissions
         * @description List the standing permissions for changes, and what is left of each.
         */
        get: operations["list_merge_permissions_api_merge_permissions_get"];
        put?: never;
        /** Add Merge Permission */
        post: operations["add_merge_permission_api_merge_permissions_post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/merge-permissions/content": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Spell Merge Permission
         * @description Give what the operator would sign for a permission; nothing changes.
         */
        post: operations["spell_merge_permission_api_merge_permissions_content_post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/merge-permissions/{identifier}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /** Remove Merge Permission */
        delete: operations["remove_merge_permission_api_merge_permissions__identifier__delete"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/schedules": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List Schedules */
        get: operations["list_schedules_api_schedules_get"];
        put?: never;
        /** Create Schedule */
        post: operations["create_schedule_api_schedules_post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/schedules/explain": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Explain
         * @description Say in words when something would run, and its next five times.
         */
        get: operations["explain_api_schedules_explain_get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/schedules/{identifier}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Show Schedule */
        get: operations["show_schedule_api_schedules__identifier__get"];
        put?: never;
        /** Modify Schedule */
        post: operations["modify_schedule_api_schedules__identifier__post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/schedules/{identifier}/history": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Schedule History */
        get: operations["schedule_history_api_schedules__identifier__history_get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/schedules/{identifier}/pause": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Pause Schedule */
        post: operations["pause_schedule_api_schedules__identifier__pause_post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/schedules/{identifier}/resume": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Resume Schedule */
        post: operations["resume_schedule_api_schedules__identifier__resume_post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/schedules/{identifier}/delete": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Delete Schedule
         * @description Take a schedule out of service for good; its history stays.
         */
        post: operations["delete_schedule_api_schedules__identifier__delete_post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/schedules/{identifier}/run": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Run Schedule */
        post: operations["run_schedule_api_schedules__identifier__run_post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/schedules/{identifier}/approval": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Request Approval */
        post: operations["request_approval_api_schedules__identifier__approval_post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/desires": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List Desires */
        get: operations["list_desires_api_desires_get"];
        put?: never;
        /** Record Desire */
        post: operations["record_desire_api_desires_post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/desires/suggestions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Suggest Promotions */
        get: operations["suggest_promotions_api_desires_suggestions_get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/desires/{identifier}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Show Desire */
        get: operations["show_desire_api_desires__identifier__get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/awareness": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read Awareness */
        get: operations["read_awareness_api_awareness_get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/desires/prune": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Prune Desires */
        post: operations["prune_desires_api_desires_prune_post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/desires/{identifier}/reinforce": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Reinforce Desire */
        post: operations["reinforce_desire_api_desires__identifier__reinforce_post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/desires/{identifier}/promote": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Ask For Promotion */
        post: operations["ask_for_promotion_api_desires__identifier__promote_post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/desires/{identifier}/approval": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Ask For Adoption
         * @description Name the approval of a desire with its planned goal, asking for it where none waits.
         */
        post: operations["ask_for_adoption_api_desires__identifier__approval_post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/goals": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List Goals */
        get: operations["list_goals_api_goals_get"];
        put?: never;
        /**
         * Create Goal
         * @description Propose a goal: with `authority`, a signature over its content, as the operator's own.
         */
        post: operations["create_goal_api_goals_post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/goals/{identifier}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Show Goal */
        get: operations["show_goal_api_goals__identifier__get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/goals/{identifier}/graph": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Show Graph */
        get: operations["show_graph_api_goals__identifier__graph_get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/goals/content": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Spell Goal
         * @description Give what the operator would sign to propose a goal as their own; nothing changes.
         */
        post: operations["spell_goal_api_goals_content_post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/goals/{identifier}/approval": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Ask For Adoption
         * @description Name the approval of exactly this goal and graph, asking for it where none waits.
         */
        post: operations["ask_for_adoption_api_goals__identifier__approval_post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/goals/{identifier}/run": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Run Goal */
        post: operations["run_goal_api_goals__identifier__run_post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/goals/{identifier}/pause": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Pause Goal */
        post: operations["pause_goal_api_goals__identifier__pause_post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/goals/{identifier}/close": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Close Goal */
        post: operations["close_goal_api_goals__identifier__close_post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/goals/{identifier}/reopen": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Reopen Goal */
        post: operations["reopen_goal_api_goals__identifier__reopen_post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/goals/{identifier}/retry": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Retry Goal */
        post: operations["retry_goal_api_goals__identifier__retry_post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/goals/{identifier}/abandon": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Abandon Goal */
        post: operations["abandon_goal_api_goals__identifier__abandon_post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/tasks": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List Tasks */
        get: operations["list_tasks_api_tasks_get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/tasks/{identifier}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Show Task */
        get: operations["show_task_api_tasks__identifier__get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/research": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List Research */
        get: operations["list_research_api_research_get"];
        put?: never;
        /** Ask */
        post: operations["ask_api_research_post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/research/{identifier}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Show Research */
        get: operations["show_research_api_research__identifier__get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/beliefs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Query Beliefs */
        get: operations["query_beliefs_api_beliefs_get"];
        put?: never;
        /** Propose Belief */
        post: operations["propose_belief_api_beliefs_post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/beliefs/{identifier}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Reflect On Belief */
        get: operations["reflect_on_belief_api_beliefs__identifier__get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/beliefs/{identifier}/deprecate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Deprecate Belief */
        post: operations["deprecate_belief_api_beliefs__identifier__deprecate_post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/changes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List Changes */
        get: operations["list_changes_api_changes_get"];
        put?: never;
        /** Propose Change */
        post: operations["propose_change_api_changes_post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/changes/{identifier}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Show Change */
        get: operations["show_change_api_changes__identifier__get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/changes/{identifier}/diff": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Show Diff */
        get: operations["show_diff_api_changes__identifier__diff_get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/changes/{identifier}/lines": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Show Lines
         * @description Give lines of a file of the change that the diff leaves out, at most 500 at once.
         */
        get: operations["show_lines_api_changes__identifier__lines_get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/changes/{identifier}/output": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Show Output
         * @description Give what the tests of a change printed behind a position, while they run.
         */
        get: operations["show_output_api_changes__identifier__output_get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/changes/{identifier}/evidence": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Show Evidence */
        get: operations["show_evidence_api_changes__identifier__evidence_get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/changes/{identifier}/test": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Test Change */
        post: operations["test_change_api_changes__identifier__test_post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/changes/{identifier}/comments": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Comment On Change
         * @description Say something, or send it back; the words and the remarks are recorded together.
         */
        post: operations["comment_on_change_api_changes__identifier__comments_post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/changes/{identifier}/approval": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Request Approval
         * @description Give the approval that waits for exactly this change; ask again where it expired.
         *
         *     A change whose tests did not pass is asked for only with `despite_tests`, and then that is
         *     a term of what is signed.
         */
        post: operations["request_approval_api_changes__identifier__approval_post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/changes/{identifier}/approve": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Approve Change */
        post: operations["approve_change_api_changes__identifier__approve_post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/changes/{identifier}/reject": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Reject Change
         * @description Turn a change down; the reason and the remarks are recorded together.
         */
        post: operations["reject_change_api_changes__identifier__reject_post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/dry-runs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Begin Dry Run */
        post: operations["begin_dry_run_api_dry_runs_post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/dry-runs/{identifier}/approve": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Approve Dry Run */
        post: operations["approve_dry_run_api_dry_runs__identifier__approve_post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/changes/{identifier}/decision": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Show Decision Facts
         * @description Say what matters before somebody signs for a change.
         */
        get: operations["show_decision_facts_api_changes__identifier__decision_get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/deployments/order/difference": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Show Live Difference
         * @description Compare what is live with what would be live after a deployment.
         */
        get: operations["show_live_difference_api_deployments_order_difference_get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/agents": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List Plans */
        get: operations["list_plans_api_agents_get"];
        put?: never;
        /** Draft Plan */
        post: operations["draft_plan_api_agents_post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/agents/waiting": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List Waiting Plans
         * @description List the plans that stand still until a person answers; for looking, not as a tool.
         */
        get: operations["list_waiting_plans_api_agents_waiting_get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/agents/{identifier}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Show Plan */
        get: operations["show_plan_api_agents__identifier__get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/agents/{identifier}/answers": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Answer */
        post: operations["answer_api_agents__identifier__answers_post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/agents/{identifier}/approval": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Ask For Approval
         * @description Name the approval of exactly what would run now, asking for it where none waits.
         */
        post: operations["ask_for_approval_api_agents__identifier__approval_post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/agents/{identifier}/approve": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Approve Plan */
        post: operations["approve_plan_api_agents__identifier__approve_post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/agents/{identifier}/reject": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Reject Plan */
        post: operations["reject_plan_api_agents__identifier__reject_post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/agents/{identifier}/revise": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Revise Plan */
        post: operations["revise_plan_api_agents__identifier__revise_post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/agents/{identifier}/hosts": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Look Up Hosts
         * @description Ask the name server which hosts of a plan exist; it sees the names.
         */
        post: operations["look_up_hosts_api_agents__identifier__hosts_post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/agents/{identifier}/pause": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Pause Plan */
        post: operations["pause_plan_api_agents__identifier__pause_post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/agents/{identifier}/abort": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Abort Plan */
        post: operations["abort_plan_api_agents__identifier__abort_post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/agents/{identifier}/skip": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Skip Action */
        post: operations["skip_action_api_agents__identifier__skip_post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/agents/{identifier}/decision": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Wanted Decision */
        get: operations["wanted_decision_api_agents__identifier__decision_get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/agents/{identifier}/resume": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Resume Plan */
        post: operations["resume_plan_api_agents__identifier__resume_post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/agents/{identifier}/grant": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Grant More */
        post: operations["grant_more_api_agents__identifier__grant_post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/agents/{identifier}/retry": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Retry Step
         * @description Run the last step once more, as it was decided, and let the plan go on.
         */
        post: operations["retry_step_api_agents__identifier__retry_post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/agents/{identifier}/extend_budget": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Extend Budget */
        post: operations["extend_budget_api_agents__identifier__extend_budget_post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/agents/{identifier}/messages": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List Messages */
        get: operations["list_messages_api_agents__identifier__messages_get"];
        put?: never;
        /** Tell Plan */
        post: operations["tell_plan_api_agents__identifier__messages_post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/agents/{identifier}/silence": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Silence Plan */
        post: operations["silence_plan_api_agents__identifier__silence_post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/agent_global_grants": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List Grants */
        get: operations["list_grants_api_agent_global_grants_get"];
        put?: never;
        /** Add Grant */
        post: operations["add_grant_api_agent_global_grants_post"];
        /** Remove Grant */
        delete: operations["remove_grant_api_agent_global_grants_delete"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/agent_global_grants/content": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Spelled Grant
         * @description Give what the operator would sign: the grant in its one spelling.
         */
        get: operations["spelled_grant_api_agent_global_grants_content_get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/releases": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List Releases */
        get: operations["list_releases_api_releases_get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/deployments": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List Deployments */
        get: operations["list_deployments_api_deployments_get"];
        put?: never;
        /** Deploy */
        post: operations["deploy_api_deployments_post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/deployments/order": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Show Order
         * @description Say what a deployment would take, and what an operator would sign for it.
         */
        get: operations["show_order_api_deployments_order_get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/deployments/{identifier}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Show Deployment */
        get: operations["show_deployment_api_deployments__identifier__get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/rollback": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Show Rollback
         * @description Say what an operator would sign to go back.
         */
        get: operations["show_rollback_api_rollback_get"];
        put?: never;
        /** Roll Back */
        post: operations["roll_back_api_rollback_post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/fleet": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Show Fleet
         * @description Say what each instance of the fleet runs, and how far the newest rollout is.
         */
        get: operations["show_fleet_api_fleet_get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/sync": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Show Sync
         * @description Say how the upstream stands, as it was last fetched.
         */
        get: operations["show_sync_api_sync_get"];
        put?: never;
        /**
         * Fetch Upstream
         * @description Fetch the upstream, look at what would come in, and ask for it.
         */
        post: operations["fetch_upstream_api_sync_post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/readiness": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Report Readiness */
        post: operations["report_readiness_api_readiness_post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/readiness/matrix/content": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Show Matrix Content
         * @description Give what an operator signs to have a run of the matrix count for the target now.
         */
        post: operations["show_matrix_content_api_readiness_matrix_content_post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/readiness/matrix": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Record Matrix */
        post: operations["record_matrix_api_readiness_matrix_post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/readiness/sign-off": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Sign Readiness Off */
        post: operations["sign_readiness_off_api_readiness_sign_off_post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/servers": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List Servers
         * @description List the servers of the signed configuration, and how each stands.
         */
        get: operations["list_servers_api_servers_get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/servers/{name}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Show Server */
        get: operations["show_server_api_servers__name__get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/servers/{name}/look": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Look At Server
         * @description Look at its tool list now, starting it where it does not run; gives what is signed.
         */
        post: operations["look_at_server_api_servers__name__look_post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/servers/{name}/accept": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Accept Tools */
        post: operations["accept_tools_api_servers__name__accept_post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/smoke": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Show Last Smoke */
        get: operations["show_last_smoke_api_smoke_get"];
        put?: never;
        /**
         * Run Smoke
         * @description Try every part of the running server once, within seconds, and record the outcome.
         */
        post: operations["run_smoke_api_smoke_post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/environments": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List Environments */
        get: operations["list_environments_api_environments_get"];
        put?: never;
        post?: never;
        /**
         * Remove Unused Environments
         * @description Remove every environment that nothing uses.
         */
        delete: operations["remove_unused_environments_api_environments_delete"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/environments/{name}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Remove Environment
         * @description Remove one environment, unless something uses it.
         */
        delete: operations["remove_environment_api_environments__name__delete"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/alerts": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List Alerts
         * @description Show what is raised now, and what every rule compares.
         */
        get: operations["list_alerts_api_alerts_get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/alerts/check": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Check Alerts
         * @description Compare every rule now, not at the next turn.
         */
        post: operations["check_alerts_api_alerts_check_post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/alerts/silences": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Silence Alert
         * @description Tell nobody what a rule raises, until a time, with the operator's signature.
         */
        post: operations["silence_alert_api_alerts_silences_post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/alerts/silences/{name}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /** End Silence */
        delete: operations["end_silence_api_alerts_silences__name__delete"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/notify/test": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Test Channels
         * @description Send a test message to each channel and device, or to one, and say who took it.
         */
        post: operations["test_channels_api_notify_test_post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/ledger/receipts/{identifier}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Make Receipt
         * @description Give the receipt of a record by its number, or of the decision about an id.
         */
        get: operations["make_receipt_api_ledger_receipts__identifier__get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/chat": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List Conversations */
        get: operations["list_conversations_api_chat_get"];
        put?: never;
        /**
         * Chat
         * @description Say something to the persona, which acts as an agent whoever talks with it.
         */
        post: operations["chat_api_chat_post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/chat/{identifier}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Show Conversation
         * @description Give the end of what was said, in order; `next` is the cursor of what was before.
         */
        get: operations["show_conversation_api_chat__identifier__get"];
        put?: never;
        post?: never;
        /**
         * Delete
         * @description Take a conversation out of view, and its texts off the disk; its records stay.
         */
        delete: operations["delete_api_chat__identifier__delete"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/chat/{identifier}/silence": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Silence
         * @description Say no to a suggested project, for the rest of the conversation.
         */
        post: operations["silence_api_chat__identifier__silence_post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/models": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List Models
         * @description Name the persona, where it can be talked with now.
         */
        get: operations["list_models_v1_models_get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/models/{model}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Show Model */
        get: operations["show_model_v1_models__model__get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/chat/completions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Complete */
        post: operations["complete_v1_chat_completions_post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        /**
         * Accepted
         * @description A decision is in the ledger, as this record.
         */
        Accepted: {
            /** Sequence */
            sequence: number;
        };
        /** AlertRuleShown */
        AlertRuleShown: {
            /** Name */
            name: string;
            /**
             * Rule
             * @description what is compared, in words
             */
            rule: string;
            /** Signal */
            signal: string;
            /** Severity */
            severity: string;
            /** About */
            about: string;
            /**
             * Clear
             * @description back at this value it is over
             */
            clear: number;
            /**
             * Value
             * @description what it compares now; null where that is not known
             */
            value: number | null;
            /** Beyond */
            beyond: boolean;
            /** Silenced Until */
            silenced_until: string | null;
        };
        /** AlertShown */
        AlertShown: {
            /** Id */
            id: string;
            /** Name */
            name: string;
            /** Severity */
            severity: string;
            /** Text */
            text: string;
            /** Next Step */
            next_step: string;
            /** Value */
            value: number;
            /** Raised At */
            raised_at: string;
            /** Told At */
            told_at: string;
            /** Silenced */
            silenced: boolean;
        };
        /** Alerts */
        Alerts: {
            /**
             * Items
             * @description the alerts that are raised now
             */
            items: components["schemas"]["AlertShown"][];
            /** Rules */
            rules: components["schemas"]["AlertRuleShown"][];
            /**
             * History
             * @description what alerts did lately, newest first
             */
            history: components["schemas"]["RecordShown"][];
            /** Next */
            next?: string | null;
        };
        /** ApprovalCount */
        ApprovalCount: {
            /** Pending */
            pending: number;
        };
        /** ApprovalDecided */
        ApprovalDecided: {
            /** Id */
            id: string;
            /** Kind */
            kind: string;
            /** Subject Id */
            subject_id: string;
            /** Digest */
            digest: string;
            /**
             * State
             * @enum {string}
             */
            state: "pending" | "approved" | "rejected" | "expired" | "used" | "stale";
            /** Requested At */
            requested_at: string;
            /** Expires At */
            expires_at: string;
            /** Summary */
            summary: string;
            /** Reason */
            reason: string;
            /** Sequence */
            sequence: number;
        };
        /** ApprovalDetails */
        ApprovalDetails: {
            /** Id */
            id: string;
            /** Kind */
            kind: string;
            /** Subject Id */
            subject_id: string;
            /** Digest */
            digest: string;
            /**
             * State
             * @enum {string}
             */
            state: "pending" | "approved" | "rejected" | "expired" | "used" | "stale";
            /** Requested At */
            requested_at: string;
            /** Expires At */
            expires_at: string;
            /** Summary */
            summary: string;
            /** Reason */
            reason: string;
            /** Details */
            details: {
                [key: string]: unknown;
            };
            payload: components["schemas"]["Payload"];
            /** Requested By */
            requested_by: string;
            /** Correlation */
            correlation: string;
            signatures: components["schemas"]["SignaturesShown"];
            /**
             * Smaller Calls
             * @description calls of the same tool that would pass now without asking
             * @default []
             */
            smaller_calls: string[];
        };
        /** ApprovalShown */
        ApprovalShown: {
            /** Id */
            id: string;
            /** Kind */
            kind: string;
            /** Subject Id */
            subject_id: string;
            /** Digest */
            digest: string;
            /**
             * State
             * @enum {string}
             */
            state: "pending" | "approved" | "rejected" | "expired" | "used" | "stale";
            /** Requested At */
            requested_at: string;
            /** Expires At */
            expires_at: string;
            /** Summary */
            summary: string;
            /** Reason */
            reason: string;
        };
        /** ArchiveMoved */
        ArchiveMoved: {
            /** Months */
            months: components["schemas"]["ArchivedMonth"][];
            /** Saved */
            saved: number;
            /**
             * Content
             * @description what the operator signs
             */
            content: {
                [key: string]: unknown;
            };
            /** Sequence */
            sequence: number;
        };
        /** ArchivePlanned */
        ArchivePlanned: {
            /** Months */
            months: components["schemas"]["ArchivedMonth"][];
            /** Saved */
            saved: number;
            /**
             * Content
             * @description what the operator signs
             */
            content: {
                [key: string]: unknown;
            };
        };
        /** ArchivedMonth */
        ArchivedMonth: {
            /** Month */
            month: string;
            /** Records */
            records: number;
            /**
             * Bytes
             * @description of the compressed file that leaves
             */
            bytes: number;
            /**
             * Stays
             * @description bytes of what is left of it
             */
            stays: number;
            /** Saved */
            saved: number;
        };
        /** AttemptShown */
        AttemptShown: {
            /** Deployment */
            deployment: string;
            /** Kind */
            kind: string;
            /** State */
            state: string;
            /** Reason */
            reason: string;
            /** Requested At */
            requested_at: string;
            /** Rehearsed At */
            rehearsed_at: string | null;
            /** Correlation */
            correlation: string;
        };
        /** AuthenticatorSelection */
        AuthenticatorSelection: {
            /** Residentkey */
            residentKey: string;
            /** Userverification */
            userVerification: string;
        };
        /** BeliefAnswer */
        BeliefAnswer: {
            /** Id */
            id: string;
            /** Statement */
            statement: string;
            /** Claim */
            claim: string;
            /** Scope */
            scope: {
                [key: string]: string;
            };
            /** State */
            state: string;
            /** Mean */
            mean: number;
            /** Lower */
            lower: number;
            /** Upper */
            upper: number;
            /** Uncertainty */
            uncertainty: number;
            /** Supporting */
            supporting: number;
            /** Opposing */
            opposing: number;
            /** Evidence Count */
            evidence_count: number;
            /** Evidence */
            evidence: components["schemas"]["EvidenceItem"][];
            /** Changed */
            changed: number | null;
            /** Reason */
            reason: string;
        };
        /** BeliefDay */
        BeliefDay: {
            /** Day */
            day: string;
            /** Mean */
            mean: number;
            /** Lower */
            lower: number;
            /** Upper */
            upper: number;
            /** Uncertainty */
            uncertainty: number;
            /** Supporting */
            supporting: number;
            /** Opposing */
            opposing: number;
        };
        /** BeliefDetails */
        BeliefDetails: {
            /** Id */
            id: string;
            /** Statement */
            statement: string;
            /** Claim */
            claim: string;
            /** Scope */
            scope: {
                [key: string]: string;
            };
            /** State */
            state: string;
            /** Mean */
            mean: number;
            /** Lower */
            lower: number;
            /** Upper */
            upper: number;
            /** Uncertainty */
            uncertainty: number;
            /** Supporting */
            supporting: number;
            /** Opposing */
            opposing: number;
            /** Evidence Count */
            evidence_count: number;
            /** Evidence */
            evidence: components["schemas"]["EvidenceItem"][];
            /** Changed */
            changed: number | null;
            /** Reason */
            reason: string;
            /** History */
            history: components["schemas"]["BeliefDay"][];
            /** Conflicts */
            conflicts: components["schemas"]["ConflictingBelief"][];
            /** Statements */
            statements: components["schemas"]["BeliefStatement"][];
        };
        /** BeliefMove */
        BeliefMove: {
            /**
             * Sequence
             * @description the record that counts
             */
            sequence: number;
            /** Belief */
            belief: string;
            /** Statement */
            statement: string;
            /** Kind */
            kind: string;
            /**
             * Sign
             * @description for or against
             */
            sign: string;
            /**
             * Mean
             * @description what the belief is worth now
             */
            mean: number;
        };
        /** BeliefStatement */
        BeliefStatement: {
            /** Sequence */
            sequence: number;
            /** Actor */
            actor: string;
            /** Text */
            text: string;
        };
        /** Body_abandon_goal_api_goals__identifier__abandon_post */
        Body_abandon_goal_api_goals__identifier__abandon_post: {
            /** Reason */
            reason: string;
        };
        /** Body_abort_plan_api_agents__identifier__abort_post */
        Body_abort_plan_api_agents__identifier__abort_post: {
            /**
             * Reason
             * @default
             */
            reason: string;
        };
        /** Body_accept_clock_api_clock_accept_post */
        Body_accept_clock_api_clock_accept_post: {
            /** Authority */
            authority: {
                [key: string]: unknown;
            };
        };
        /** Body_accept_tools_api_servers__name__accept_post */
        Body_accept_tools_api_servers__name__accept_post: {
            content: components["schemas"]["ServerContent"];
            /** Authority */
            authority: {
                [key: string]: unknown;
            };
        };
        /** Body_add_grant_api_agent_global_grants_post */
        Body_add_grant_api_agent_global_grants_post: {
            /** Kind */
            kind: string;
            /** Value */
            value: string;
            /** Authority */
            authority: {
                [key: string]: unknown;
            };
            /**
             * Seen
             * @description `sequence` of the list
             */
            seen?: number | null;
        };
        /** Body_add_merge_permission_api_merge_permissions_post */
        Body_add_merge_permission_api_merge_permissions_post: {
            content: components["schemas"]["MergePermissionContent"];
            /** Authority */
            authority: {
                [key: string]: unknown;
            };
        };
        /** Body_add_permission_api_permissions_post */
        Body_add_permission_api_permissions_post: {
            content: components["schemas"]["PermissionContent"];
            /** Authority */
            authority: {
                [key: string]: unknown;
            };
        };
        /** Body_allow_off_api_sandbox_off_unsafe_post */
        Body_allow_off_api_sandbox_off_unsafe_post: {
            /** Authority */
            authority: {
                [key: string]: unknown;
            };
        };
        /** Body_answer_api_agents__identifier__answers_post */
        Body_answer_api_agents__identifier__answers_post: {
            /** Answer */
            answer: string;
        };
        /** Body_approve_api_approvals__identifier__approve_post */
        Body_approve_api_approvals__identifier__approve_post: {
            /** Authority */
            authority: {
                [key: string]: unknown;
            };
        };
        /** Body_approve_change_api_changes__identifier__approve_post */
        Body_approve_change_api_changes__identifier__approve_post: {
            /** Authority */
            authority: {
                [key: string]: unknown;
            };
        };
        /** Body_approve_dry_run_api_dry_runs__identifier__approve_post */
        Body_approve_dry_run_api_dry_runs__identifier__approve_post: {
            /** Authority */
            authority: {
                [key: string]: unknown;
            };
        };
        /** Body_approve_plan_api_agents__identifier__approve_post */
        Body_approve_plan_api_agents__identifier__approve_post: {
            /** Approval */
            approval: string;
            /** Authority */
            authority: {
                [key: string]: unknown;
            };
            /**
             * Plan Hash
             * @description of the plan that was seen
             */
            plan_hash?: string | null;
        };
        /** Body_ask_for_promotion_api_desires__identifier__promote_post */
        Body_ask_for_promotion_api_desires__identifier__promote_post: {
            /**
             * Adopt
             * @default false
             */
            adopt: boolean;
        };
        /** Body_change_operators_api_operators_post */
        Body_change_operators_api_operators_post: {
            /** Action */
            action: string;
            /** Content */
            content: {
                [key: string]: unknown;
            };
            /** Authority */
            authority: {
                [key: string]: unknown;
            };
        };
        /** Body_check_approval_api_approvals__identifier__check_post */
        Body_check_approval_api_approvals__identifier__check_post: {
            /** Terms */
            terms: {
                [key: string]: unknown;
            };
        };
        /** Body_create_token_api_tokens_post */
        Body_create_token_api_tokens_post: {
            /** Content */
            content: {
                [key: string]: unknown;
            };
            /** Authority */
            authority: {
                [key: string]: unknown;
            };
        };
        /** Body_creation_options_api_passkeys_enrolments_options_post */
        Body_creation_options_api_passkeys_enrolments_options_post: {
            /** Code */
            code: string;
        };
        /** Body_deploy_api_deployments_post */
        Body_deploy_api_deployments_post: {
            /** Authority */
            authority: {
                [key: string]: unknown;
            };
            /** Change */
            change?: string | null;
        };
        /** Body_deprecate_belief_api_beliefs__identifier__deprecate_post */
        Body_deprecate_belief_api_beliefs__identifier__deprecate_post: {
            /** Reason */
            reason: string;
        };
        /** Body_down_api_down_post */
        Body_down_api_down_post: {
            /**
             * Keep App
             * @default false
             */
            keep_app: boolean;
        };
        /** Body_draft_statement_api_statements_post */
        Body_draft_statement_api_statements_post: {
            /** Action */
            action: string;
            /** Content */
            content: {
                [key: string]: unknown;
            };
        };
        /** Body_enroll_passkey_api_passkeys_post */
        Body_enroll_passkey_api_passkeys_post: {
            /** Content */
            content: {
                [key: string]: unknown;
            };
            /** Authority */
            authority: {
                [key: string]: unknown;
            };
        };
        /** Body_extend_budget_api_agents__identifier__extend_budget_post */
        Body_extend_budget_api_agents__identifier__extend_budget_post: {
            /** Authority */
            authority: {
                [key: string]: unknown;
            };
            /** Steps */
            steps: number;
            /**
             * Step
             * @description that was seen waiting
             */
            step?: number | null;
        };
        /** Body_grant_more_api_agents__identifier__grant_post */
        Body_grant_more_api_agents__identifier__grant_post: {
            /** Authority */
            authority: {
                [key: string]: unknown;
            };
            /**
             * Once
             * @default false
             */
            once: boolean;
            /**
             * Step
             * @description that was seen waiting
             */
            step?: number | null;
        };
        /** Body_keep_made_passkey_api_passkeys_enrolments_made_post */
        Body_keep_made_passkey_api_passkeys_enrolments_made_post: {
            /** Code */
            code: string;
            /** Client Data */
            client_data: string;
            /** Attestation */
            attestation: string;
        };
        /** Body_move_to_archive_api_ledger_archive_post */
        Body_move_to_archive_api_ledger_archive_post: {
            /** Before */
            before: string;
            /** To */
            to: string;
            /** Thin */
            thin: boolean;
            /** Authority */
            authority: {
                [key: string]: unknown;
            };
        };
        /** Body_open_session_after_enrolment_api_passkeys_enrolments_session_post */
        Body_open_session_after_enrolment_api_passkeys_enrolments_session_post: {
            /** Code */
            code: string;
        };
        /** Body_open_session_api_session_post */
        Body_open_session_api_session_post: {
            /** Code */
            code: string;
        };
        /** Body_pause_plan_api_agents__identifier__pause_post */
        Body_pause_plan_api_agents__identifier__pause_post: {
            /**
             * Reason
             * @default
             */
            reason: string;
        };
        /** Body_plan_archive_api_ledger_archive_plan_post */
        Body_plan_archive_api_ledger_archive_plan_post: {
            /** Before */
            before: string;
            /** To */
            to: string;
            /** Thin */
            thin: boolean;
        };
        /** Body_record_matrix_api_readiness_matrix_post */
        Body_record_matrix_api_readiness_matrix_post: {
            matrix: components["schemas"]["Matrix"];
            /** Authority */
            authority: {
                [key: string]: unknown;
            };
        };
        /** Body_reinforce_desire_api_desires__identifier__reinforce_post */
        Body_reinforce_desire_api_desires__identifier__reinforce_post: {
            /** Amount */
            amount?: number | null;
        };
        /** Body_reject_api_approvals__identifier__reject_post */
        Body_reject_api_approvals__identifier__reject_post: {
            /** Reason */
            reason: string;
        };
        /** Body_reject_plan_api_agents__identifier__reject_post */
        Body_reject_plan_api_agents__identifier__reject_post: {
            /** Reason */
            reason: string;
            /**
             * Plan Hash
             * @description of the plan that was seen
             */
            plan_hash?: string | null;
        };
        /** Body_request_approval_api_changes__identifier__approval_post */
        Body_request_approval_api_changes__identifier__approval_post: {
            /**
             * Despite Tests
             * @default false
             */
            despite_tests: boolean;
        };
        /** Body_resume_plan_api_agents__identifier__resume_post */
        Body_resume_plan_api_agents__identifier__resume_post: {
            /** Authority */
            authority: {
                [key: string]: unknown;
            };
            /**
             * Step
             * @description that was seen waiting
             */
            step?: number | null;
        };
        /** Body_resume_schedule_api_schedules__identifier__resume_post */
        Body_resume_schedule_api_schedules__identifier__resume_post: {
            /**
             * Seen
             * @description `etag` of the schedule
             */
            seen?: string | null;
        };
        /** Body_retry_goal_api_goals__identifier__retry_post */
        Body_retry_goal_api_goals__identifier__retry_post: {
            /** Node */
            node?: string | null;
        };
        /** Body_retry_step_api_agents__identifier__retry_post */
        Body_retry_step_api_agents__identifier__retry_post: {
            /** Authority */
            authority: {
                [key: string]: unknown;
            };
            /**
             * Step
             * @description that was seen waiting
             */
            step?: number | null;
        };
        /** Body_revise_plan_api_agents__identifier__revise_post */
        Body_revise_plan_api_agents__identifier__revise_post: {
            /** Edits */
            edits: {
                [key: string]: unknown;
            }[];
            /**
             * Plan Hash
             * @description of the plan that was seen
             */
            plan_hash?: string | null;
        };
        /** Body_roll_back_api_rollback_post */
        Body_roll_back_api_rollback_post: {
            /** Authority */
            authority: {
                [key: string]: unknown;
            };
            /** Release */
            release?: string | null;
        };
        /** Body_rotate_operator_api_operator_post */
        Body_rotate_operator_api_operator_post: {
            /** New Key */
            new_key: string;
            /** Authority */
            authority: {
                [key: string]: unknown;
            };
        };
        /** Body_run_schedule_api_schedules__identifier__run_post */
        Body_run_schedule_api_schedules__identifier__run_post: {
            /** Start */
            start?: string | null;
            /** End */
            end?: string | null;
        };
        /** Body_set_flag_api_flags_post */
        Body_set_flag_api_flags_post: {
            /** Name */
            name: string;
            /** On */
            on: boolean;
            /** Authority */
            authority?: {
                [key: string]: unknown;
            } | null;
            /**
             * Seen
             * @description `sequence` of the flag, to turn on
             */
            seen?: number | null;
        };
        /** Body_show_candidate_api_passkeys_enrolments_candidate_post */
        Body_show_candidate_api_passkeys_enrolments_candidate_post: {
            /** Code */
            code: string;
            /** Name */
            name: string;
        };
        /** Body_show_outcome_api_passkeys_enrolments_outcome_post */
        Body_show_outcome_api_passkeys_enrolments_outcome_post: {
            /** Code */
            code: string;
        };
        /** Body_sign_configuration_api_config_post */
        Body_sign_configuration_api_config_post: {
            /** Text */
            text: string;
            /** Authority */
            authority: {
                [key: string]: unknown;
            };
            /**
             * Seen
             * @description `sha256` of the one it replaces
             */
            seen?: string | null;
        };
        /** Body_sign_readiness_off_api_readiness_sign_off_post */
        Body_sign_readiness_off_api_readiness_sign_off_post: {
            report: components["schemas"]["ReadinessSigned"];
            /** Authority */
            authority: {
                [key: string]: unknown;
            };
        };
        /** Body_sign_restore_api_restore_post */
        Body_sign_restore_api_restore_post: {
            /** Authority */
            authority: {
                [key: string]: unknown;
            };
        };
        /** Body_silence_alert_api_alerts_silences_post */
        Body_silence_alert_api_alerts_silences_post: {
            content: components["schemas"]["SilenceContent"];
            /** Authority */
            authority: {
                [key: string]: unknown;
            };
        };
        /** Body_silence_plan_api_agents__identifier__silence_post */
        Body_silence_plan_api_agents__identifier__silence_post: {
            /**
             * On
             * @default true
             */
            on: boolean;
        };
        /** Body_skip_action_api_agents__identifier__skip_post */
        Body_skip_action_api_agents__identifier__skip_post: {
            /**
             * Reason
             * @default
             */
            reason: string;
            /**
             * Step
             * @description that was seen waiting
             */
            step?: number | null;
        };
        /** Body_start_again_api_start_post */
        Body_start_again_api_start_post: {
            /** Stop */
            stop: string;
            /** Authority */
            authority: {
                [key: string]: unknown;
            };
        };
        /** Body_stop_all_api_stop_post */
        Body_stop_all_api_stop_post: {
            /**
             * Keep App
             * @default false
             */
            keep_app: boolean;
        };
        /** Body_tell_plan_api_agents__identifier__messages_post */
        Body_tell_plan_api_agents__identifier__messages_post: {
            /** Text */
            text: string;
        };
        /** Body_test_channels_api_notify_test_post */
        Body_test_channels_api_notify_test_post: {
            /**
             * Channel
             * @default
             */
            channel: string;
        };
        /** BudgetDays */
        BudgetDays: {
            /** Scope */
            scope: string;
            /** Name */
            name: string;
            /**
             * Limit
             * @description a day, as of the newest start
             */
            limit: number;
            /**
             * Used
             * @description one for each of `days`
             */
            used: number[];
            /**
             * Ids
             * @description whose story tells that day; none if nothing was used
             */
            ids: (string | null)[];
        };
        /** BudgetShown */
        BudgetShown: {
            /** Day */
            day: string;
            /** Scope */
            scope: string;
            /** Name */
            name: string;
            /** Used */
            used: number;
            /** Limit */
            limit: number;
        };
        /** BudgetWeek */
        BudgetWeek: {
            /** Day */
            day: string;
            /** Scope */
            scope: string;
            /** Name */
            name: string;
            /** Used */
            used: number;
            /** Limit */
            limit: number;
            /**
             * Week
             * @description what each of the last seven days used
             */
            week: number[];
        };
        /** Candidate */
        Candidate: {
            /**
             * Content
             * @description what the operator signs, once it is made
             */
            content: {
                [key: string]: unknown;
            } | null;
            /**
             * Check
             * @description six digits that the page shows too
             */
            check: string | null;
        };
        /**
         * CarryOverShown
         * @description The base moved, and this round is the change on the new base.
         */
        CarryOverShown: {
            /** At */
            at: string;
            /** Previous Base */
            previous_base: string;
            /** Onto */
            onto: string;
            /** Signed Before */
            signed_before: boolean;
        };
        /** ChangeBrief */
        ChangeBrief: {
            /** Id */
            id: string;
            /** State */
            state: string;
            /** Branch */
            branch: string;
            /** Commit */
            commit: string;
            /** Reason */
            reason: string;
            /** Created At */
            created_at: string;
            /** Proposed By */
            proposed_by: string;
            /** Files */
            files: number;
            /** Tests */
            tests: string | null;
            /** Approval Id */
            approval_id: string | null;
        };
        /** ChangeProposed */
        ChangeProposed: {
            /** Id */
            id: string;
            /** State */
            state: string;
            /** Branch */
            branch: string;
            /** Commit */
            commit: string;
            /** Task Id */
            task_id: string;
            /** Next */
            next: string;
        };
        /** ChangeShown */
        ChangeShown: {
            /** Id */
            id: string;
            /** Commit */
            commit: string;
            /** Findings */
            findings: {
                [key: string]: unknown;
            }[] | null;
            /** Evidence */
            evidence: {
                [key: string]: unknown;
            };
            /** State */
            state: string;
            /** Branch */
            branch: string;
            /** Reason */
            reason: string;
            /** Created At */
            created_at: string;
            /** Proposed By */
            proposed_by: string;
            /** Files */
            files: {
                [key: string]: unknown;
            }[];
            /** Diff */
            diff: {
                [key: string]: unknown;
            };
            /** Tests */
            tests: string | null;
            /** Approval Id */
            approval_id: string | null;
            /** Round */
            round: number;
            /** Base */
            base: string;
            /** Target Branch */
            target_branch: string;
            /** Tests Touched */
            tests_touched: unknown[];
            /** Dependencies */
            dependencies: unknown[];
            /** Superseded By */
            superseded_by: string | null;
            /** Task Id */
            task_id: string | null;
            /** Correlation */
            correlation: string;
            /** Comments */
            comments: {
                [key: string]: unknown;
            }[];
            /** Decision */
            decision: {
                [key: string]: unknown;
            };
            /** Next */
            next: string;
            /** Goal */
            goal: string | null;
            /** Goal Text */
            goal_text: string | null;
            /** Desire */
            desire: string | null;
            /** Research */
            research: string | null;
            research_session: components["schemas"]["ResearchCited"] | null;
            /**
             * Contains Quarantined
             * @description the commits inside that failed in service and are in quarantine
             */
            contains_quarantined: string[];
            /** Blocked */
            blocked: string | null;
        } & {
            [key: string]: unknown;
        };
        /** ChannelTried */
        ChannelTried: {
            /** Channel */
            channel: string;
            /** Ok */
            ok: boolean;
            /**
             * Problem
             * @default
             */
            problem: string;
        };
        /** ChannelsTried */
        ChannelsTried: {
            /** Ok */
            ok: boolean;
            /** Items */
            items: components["schemas"]["ChannelTried"][];
            /** Next */
            next?: string | null;
        };
        /** ChatAnswered */
        ChatAnswered: {
            /** Conversation */
            conversation: string;
            /** Sequence */
            sequence: number;
            /** Text */
            text: string;
            /** Calls */
            calls: components["schemas"]["ChatCall"][];
            /**
             * Ended
             * @enum {string}
             */
            ended: "done" | "cut" | "failed" | "limit";
            trouble: components["schemas"]["ChatTrouble"] | null;
            /** Suggestion */
            suggestion: string | null;
            /** Model */
            model: string;
            usage: components["schemas"]["ChatUsage"];
        };
        /** ChatAsked */
        ChatAsked: {
            /**
             * Text
             * @description what to say to the persona
             */
            text: string;
            /**
             * Conversation
             * @description go on with this one
             */
            conversation?: string | null;
        };
        /**
         * ChatCall
         * @description A tool that the persona called, as an agent, and how that went.
         */
        ChatCall: {
            /** Number */
            number: number;
            /** Tool */
            tool: string;
            /** Arguments */
            arguments: {
                [key: string]: unknown;
            };
            /**
             * Outcome
             * @enum {string}
             */
            outcome: "ok" | "refused" | "waiting" | "failed";
            /** Code */
            code: string;
            /** Detail */
            detail?: string | null;
            /**
             * Approval Id
             * @description what a person has to approve first
             */
            approval_id?: string | null;
        };
        /** ChatMessage */
        ChatMessage: {
            /** Sequence */
            sequence: number;
            /** Time */
            time: string;
            /**
             * Who
             * @enum {string}
             */
            who: "person" | "persona";
            /** Text */
            text: string;
            /** Calls */
            calls: components["schemas"]["ChatCall"][];
            /**
             * Ended
             * @description how an answer ended; nothing, for what a person said
             */
            ended: ("done" | "cut" | "failed" | "limit") | null;
            trouble: components["schemas"]["ChatTrouble"] | null;
            /**
             * Suggestion
             * @description a project that the persona suggests
             */
            suggestion: string | null;
            /** Model */
            model: string | null;
            usage: components["schemas"]["ChatUsage"] | null;
        };
        /** ChatTrouble */
        ChatTrouble: {
            /** Code */
            code: string;
            /** Detail */
            detail: string;
            /** Next Step */
            next_step: string;
        };
        /** ChatUsage */
        ChatUsage: {
            /** Input Tokens */
            input_tokens: number;
            /** Output Tokens */
            output_tokens: number;
            /** Tokens */
            tokens: number;
        };
        /** CheckedItem */
        CheckedItem: {
            /** Name */
            name: string;
            /** Ok */
            ok: boolean;
            /** Detail */
            detail: string;
            /** Fix */
            fix: string;
        };
        /** CheckpointCost */
        CheckpointCost: {
            /** Checkpoint */
            checkpoint: number;
            /** Steps */
            steps: number;
            /** Tokens */
            tokens: number;
            /**
             * Milliseconds
             * @description of the steps that are over
             */
            milliseconds: number;
            /**
             * Outcomes
             * @description how many steps ended how, or how they stand
             */
            outcomes: {
                [key: string]: number;
            };
        };
        /** CitationAnswer */
        CitationAnswer: {
            /** Kind */
            kind: string;
            /** Place */
            place: string;
            /** Quote */
            quote: string;
            /**
             * Commit
             * @default
             */
            commit: string;
            /**
             * Path
             * @default
             */
            path: string;
            /**
             * Blob
             * @default
             */
            blob: string;
            /**
             * Start
             * @default 0
             */
            start: number;
            /**
             * End
             * @default 0
             */
            end: number;
            /**
             * Sequence
             * @default 0
             */
            sequence: number;
            /**
             * Hash
             * @default
             */
            hash: string;
            /**
             * Url
             * @default
             */
            url: string;
            /**
             * Sha256
             * @default
             */
            sha256: string;
            /**
             * Found
             * @default true
             */
            found: boolean;
            /**
             * Problem
             * @default
             */
            problem: string;
        };
        /** ClockAccepted */
        ClockAccepted: {
            /**
             * Clock
             * @description what the machine says
             */
            clock: string;
            /**
             * Ledger
             * @description the time of the last record
             */
            ledger: string;
            /**
             * Ahead
             * @description by how much the ledger is ahead, in words; empty if it is not
             */
            ahead: string;
            /**
             * First Ahead
             * @description the first record that is ahead of the clock
             */
            first_ahead: number | null;
            /**
             * Last Accepted
             * @description the record of the last acceptance, or 0
             */
            last_accepted: number;
            /** Sequence */
            sequence: number;
        };
        /** ClockShown */
        ClockShown: {
            /**
             * Clock
             * @description what the machine says
             */
            clock: string;
            /**
             * Ledger
             * @description the time of the last record
             */
            ledger: string;
            /**
             * Ahead
             * @description by how much the ledger is ahead, in words; empty if it is not
             */
            ahead: string;
            /**
             * First Ahead
             * @description the first record that is ahead of the clock
             */
            first_ahead: number | null;
            /**
             * Last Accepted
             * @description the record of the last acceptance, or 0
             */
            last_accepted: number;
        };
        /** CommentGiven */
        CommentGiven: {
            /** Remarks */
            remarks?: components["schemas"]["RemarkGiven"][];
            /**
             * Commit
             * @description of the change that was seen
             */
            commit?: string | null;
            /**
             * Text
             * @default
             */
            text: string;
            /**
             * Request Changes
             * @default false
             */
            request_changes: boolean;
        };
        /** CommitShown */
        CommitShown: {
            /** Commit */
            commit: string;
            /** Change */
            change: string | null;
            /** Reason */
            reason: string;
            /** Tests */
            tests: string | null;
        };
        /**
         * CompletionAsked
         * @description What OpenAI's clients send; an option that cannot be honoured is refused by its name.
         */
        CompletionAsked: {
            /**
             * Model
             * @default astra
             */
            model: string;
            /** Messages */
            messages: components["schemas"]["Said"][];
            /**
             * Stream
             * @default false
             */
            stream: boolean;
            stream_options?: components["schemas"]["StreamOptions"] | null;
            /** N */
            n?: 1 | null;
        } & {
            [key: string]: unknown;
        };
        /** ConfigurationChecked */
        ConfigurationChecked: {
            /** Ok */
            ok: boolean;
            /** Items */
            items: components["schemas"]["CheckedItem"][];
        };
        /** ConfigurationShown */
        ConfigurationShown: {
            /** Text */
            text: string;
            /** Sha256 */
            sha256: string;
            /** State */
            state: string;
            /** File */
            file: string;
        };
        /** ConfigurationSigned */
        ConfigurationSigned: {
            /** Sequence */
            sequence: number;
            /** Sha256 */
            sha256: string;
        };
        /** ConflictingBelief */
        ConflictingBelief: {
            /** Id */
            id: string;
            /** Statement */
            statement: string;
            /** State */
            state: string;
            /** Mean */
            mean: number;
            /** Lower */
            lower: number;
            /** Upper */
            upper: number;
            /** Uncertainty */
            uncertainty: number;
            /** Supporting */
            supporting: number;
            /** Opposing */
            opposing: number;
        };
        /** ContainedShown */
        ContainedShown: {
            /** Commit */
            commit: string;
            /** Reason */
            reason: string;
        };
        /** ContestedAnswer */
        ContestedAnswer: {
            /** Claims */
            claims: string[];
        };
        /** ConversationDeleted */
        ConversationDeleted: {
            /** Id */
            id: string;
            /**
             * Messages
             * @description how many messages are out of view
             */
            messages: number;
            /**
             * In Ledger
             * @description how many of them an earlier version wrote into the ledger, where they stay
             */
            in_ledger: number;
        };
        /** ConversationDetails */
        ConversationDetails: {
            /** Id */
            id: string;
            /** Title */
            title: string;
            /** Started At */
            started_at: string;
            /** Spoken At */
            spoken_at: string;
            /** Messages */
            messages: number;
            /**
             * Silenced
             * @description no project is suggested here any more
             */
            silenced: boolean;
            /** Correlation */
            correlation: string;
            /**
             * Spoken
             * @description the sequence of its newest record
             */
            spoken: number;
            /** Items */
            items: components["schemas"]["ChatMessage"][];
            /**
             * Next
             * @description the cursor of what was said before these
             */
            next: number | null;
            /**
             * Answering
             * @description the persona is speaking at this moment
             */
            answering: boolean;
            /**
             * In Ledger
             * @description messages that an earlier version wrote into the ledger; deleting leaves those
             */
            in_ledger: number;
        };
        /** ConversationShown */
        ConversationShown: {
            /** Id */
            id: string;
            /** Title */
            title: string;
            /** Started At */
            started_at: string;
            /** Spoken At */
            spoken_at: string;
            /** Messages */
            messages: number;
            /**
             * Silenced
             * @description no project is suggested here any more
             */
            silenced: boolean;
            /** Correlation */
            correlation: string;
            /**
             * Spoken
             * @description the sequence of its newest record
             */
            spoken: number;
        };
        /** Conversations */
        Conversations: {
            /** Items */
            items: components["schemas"]["ConversationShown"][];
            /** Next */
            next: number | null;
            /** @description why nobody can be talked with now */
            unavailable: components["schemas"]["ChatTrouble"] | null;
        };
        /**
         * CreationOptions
         * @description For `PublicKeyCredential.parseCreationOptionsFromJSON`.
         */
        CreationOptions: {
            /** Challenge */
            challenge: string;
            rp: components["schemas"]["RelyingParty"];
            user: components["schemas"]["PasskeyUser"];
            /** Pubkeycredparams */
            pubKeyCredParams: components["schemas"]["KeyKind"][];
            /** Excludecredentials */
            excludeCredentials: components["schemas"]["CredentialNamed"][];
            authenticatorSelection: components["schemas"]["AuthenticatorSelection"];
            /** Attestation */
            attestation: string;
            /** Timeout */
            timeout: number;
        };
        /** CredentialNamed */
        CredentialNamed: {
            /**
             * Type
             * @constant
             */
            type: "public-key";
            /** Id */
            id: string;
        };
        /** CriterionCheck */
        CriterionCheck: {
            /** Criterion */
            criterion: string;
            /** Holds */
            holds: boolean;
            /** Detail */
            detail: string;
        };
        /** DaemonShown */
        DaemonShown: {
            /** Pid */
            pid: number;
            /** Socket */
            socket: string;
            /**
             * Url
             * @description where the dashboard is, when it is served
             */
            url: string | null;
            /**
             * Port
             * @description on 127.0.0.1 and ::1; a proxy in front goes there
             */
            port: number | null;
            /**
             * On Demand
             * @description started by a command, and gives way to `astra up`
             */
            on_demand: boolean;
            /** Started At */
            started_at: string;
        };
        /**
         * DecisionWanted
         * @description What the operator signs to let a plan do more: the record's type, and what it says.
         */
        DecisionWanted: {
            /** Type */
            type: string;
            /** Content */
            content: {
                [key: string]: unknown;
            };
        };
        /**
         * DeployOrder
         * @description What a deployment would take, and what is known about it.
         */
        DeployOrder: {
            /** Commit */
            commit: string;
            /** Digest */
            digest: string;
            /** Allowed */
            allowed: boolean;
            /** Tests Passed */
            tests_passed: boolean;
            /** Human Approval Required */
            human_approval_required: boolean;
            /** Stale */
            stale: boolean;
            /**
             * Live
             * @description the live release, if it is this commit with these settings
             */
            live: string;
            /**
             * Quarantined
             * @description why its commit is in quarantine, or empty
             */
            quarantined: string;
            /**
             * Contains
             * @description commits below it that failed in service and that it does not undo
             */
            contains: string[];
            /**
             * To Revert
             * @description the changes that brought what failed in service
             */
            to_revert?: string[];
            /**
             * Despite
             * @description those that the approval of its change accepted
             */
            despite: string[];
            /**
             * Waves
             * @description the waves of the fleet that would get it
             */
            waves?: string[][];
            /** Approval Id */
            approval_id: string;
            /** Change */
            change: string;
            /** Code */
            code: string;
            /** Reason */
            reason: string;
        } & {
            [key: string]: unknown;
        };
        /** DeploymentShown */
        DeploymentShown: {
            /** Id */
            id: string;
            /** Kind */
            kind: string;
            /** State */
            state: string;
            /** Release */
            release: string;
            /** Commit */
            commit: string;
            /** Approved */
            approved: string;
            /** Replaced */
            replaced: string | null;
            /** Backup */
            backup: string | null;
            /** Reason */
            reason: string;
            /** Rollback To */
            rollback_to: string | null;
            /** Requested By */
            requested_by: string;
            /** Requested At */
            requested_at: string;
            /** Changed At */
            changed_at: string;
            /** Correlation */
            correlation: string;
            /** Output */
            output: string;
            /** Cut */
            cut: number;
            /** Keep State */
            keep_state: boolean;
            /** Open */
            open: boolean;
            /**
             * About
             * @description why the change that brought its commit was made
             * @default
             */
            about: string;
            /**
             * Rollback About
             * @description why the change was made that serves again, where it was taken back
             * @default
             */
            rollback_about: string;
            /**
             * Revert
             * @description the change taken out of service that the branch still holds
             */
            revert?: string | null;
            /**
             * Instances
             * @description on a fleet: every instance and its state
             */
            instances?: {
                [key: string]: string;
            };
        };
        /** DesireAnswer */
        DesireAnswer: {
            /** Id */
            id: string;
            /** Text */
            text: string;
            /** Strength */
            strength: number;
            /** Tags */
            tags: string[];
            /** Context */
            context: unknown;
            /** State */
            state: string;
            /** Recorded At */
            recorded_at: string;
            /** Reinforcements */
            reinforcements: number;
            /** Reinforced At */
            reinforced_at: string | null;
            /** Goal Id */
            goal_id: string | null;
        };
        /** DesireShown */
        DesireShown: {
            /** Id */
            id: string;
            /** Text */
            text: string;
            /** Strength */
            strength: number;
            /** Tags */
            tags: string[];
            /** Context */
            context: unknown;
            /** State */
            state: string;
            /** Recorded At */
            recorded_at: string;
            /** Reinforcements */
            reinforcements: number;
            /** Reinforced At */
            reinforced_at: string | null;
            /** Goal Id */
            goal_id: string | null;
        };
        /** DeviceShown */
        DeviceShown: {
            /**
             * Id
             * @description `dev_` and the first 16 hex digits of the endpoint's sha-256
             */
            id: string;
            /**
             * Service
             * @description the host of the push service
             */
            service: string;
            /**
             * Holder
             * @description the passkey, session or token it depends on
             */
            holder: string;
            /** Subscribed At */
            subscribed_at: string;
            /**
             * Expires At
             * @description unless it is subscribed again before
             */
            expires_at: string;
        };
        /** DevicesShown */
        DevicesShown: {
            /** Items */
            items: components["schemas"]["DeviceShown"][];
            /** Next */
            next?: number | string | null;
            /**
             * Key
             * @description the applicationServerKey to subscribe with
             */
            key: string;
            /**
             * Include Content
             * @description whether messages say what waits; signed
             */
            include_content: boolean;
        };
        /** DiffShown */
        DiffShown: {
            /** Id */
            id: string;
            /** Commit */
            commit: string;
            /** Base */
            base: string;
            /** Diff */
            diff: string;
        } & {
            [key: string]: unknown;
        };
        /** DiskShown */
        DiskShown: {
            /** Free */
            free: number;
            /** Floor */
            floor: number;
            /** Low */
            low: boolean;
            /** Reserve */
            reserve: string;
            /**
             * Inodes
             * @description free ones; null where none are counted
             */
            inodes?: number | null;
        } & {
            [key: string]: unknown;
        };
        /**
         * DryRunShown
         * @description A rehearsal: where it waits for a signature, or how it ended.
         */
        DryRunShown: {
            /** Id */
            id: string;
            /** State */
            state: string;
            /** Transcript */
            transcript: string[];
        } & {
            [key: string]: unknown;
        };
        /**
         * EditArguments
         * @description One file: its whole content, a search to replace, or its deletion.
         */
        EditArguments: {
            /**
             * Path
             * @description from the top of the target
             */
            path: string;
            /**
             * Content
             * @description the whole file
             */
            content?: string | null;
            /**
             * Content Base64
             * @description the whole file, where it is not UTF-8
             */
            content_base64?: string | null;
            /**
             * Executable
             * @description left out: as it is
             */
            executable?: boolean | null;
            /**
             * Search
             * @description text that is in the file exactly once
             */
            search?: string | null;
            /**
             * Replace
             * @description what it becomes
             */
            replace?: string | null;
            /**
             * Every
             * @description replace every place it is in
             * @default false
             */
            every: boolean;
            /**
             * Delete
             * @description delete the file
             */
            delete?: true | null;
        };
        /** EnrolmentLink */
        EnrolmentLink: {
            /** Url */
            url: string;
            /** Code */
            code: string;
            /** Expires At */
            expires_at: string;
        };
        /** EnrolmentOutcome */
        EnrolmentOutcome: {
            /**
             * Enrolled
             * @description the operator has signed for it: it counts
             */
            enrolled: boolean;
        };
        /** EnvironmentList */
        EnvironmentList: {
            /** Items */
            items: components["schemas"]["EnvironmentShown"][];
        };
        /** EnvironmentShown */
        EnvironmentShown: {
            /**
             * Name
             * @description a digest over the lock files, the recipe and the interpreter
             */
            name: string;
            /** Bytes */
            bytes: number;
            /** Packages */
            packages: number;
            /**
             * Used At
             * Format: date-time
             * @description when it was last asked for
             */
            used_at: string;
            /**
             * Used By
             * @description releases, changes and the branch; empty: may go
             */
            used_by: string[];
        };
        /** Evidence */
        Evidence: {
            /** Strength */
            strength: number;
            /** Reinforcements */
            reinforcements: number;
            /** Recurrence */
            recurrence: number;
            /** Since */
            since: string;
            /** Why */
            why: string;
        };
        /** EvidenceItem */
        EvidenceItem: {
            /** Sequence */
            sequence: number;
            /** Kind */
            kind: string;
            /** Sign */
            sign: string;
            /** Day */
            day: string;
            /** Weight */
            weight: number;
            /**
             * Type
             * @default
             */
            type: string;
            /**
             * Story
             * @default
             */
            story: string;
        };
        /** ExecutorShown */
        ExecutorShown: {
            /** Active */
            active: number;
            /** Paused */
            paused: number;
            /** Open */
            open: number;
            /** Running */
            running: number;
            /** Next Due */
            next_due: string | null;
            /** Trouble */
            trouble: string;
            /** Closed */
            closed: string;
        } & {
            [key: string]: unknown;
        };
        /** Explained */
        Explained: {
            /** In Words */
            in_words: string;
            /** Next Runs */
            next_runs: string[];
        };
        /** FactShown */
        FactShown: {
            /** Name */
            name: string;
            /** Text */
            text: string;
            /**
             * Tone
             * @enum {string}
             */
            tone: "good" | "plain" | "warn" | "bad";
            /**
             * Red
             * @description a reader should stop here
             */
            red: boolean;
            /**
             * Term
             * @description the term of the signature that names it, or null
             */
            term: string | null;
            /**
             * Value
             * @description what that term says
             */
            value: string | null;
            /**
             * With Deploy
             * @description counts only where the approval includes the deploy
             */
            with_deploy: boolean;
        };
        /**
         * FactsShown
         * @description Everything that matters before somebody signs for a change.
         */
        FactsShown: {
            /** Id */
            id: string;
            /** Commit */
            commit: string;
            /** Base */
            base: string;
            /** Target Branch */
            target_branch: string;
            /**
             * Behind
             * @description commits that the branch has on top of the base, at most 50
             */
            behind: number;
            /**
             * Blocked
             * @description a finding that the signed configuration blocks on
             */
            blocked: boolean;
            /** Facts */
            facts: components["schemas"]["FactShown"][];
            live: components["schemas"]["LiveShown"] | null;
            /**
             * Waiting
             * @description merged before it, and not live yet
             */
            waiting: components["schemas"]["CommitShown"][];
            carried_over: components["schemas"]["CarryOverShown"] | null;
        };
        /** Feed */
        Feed: {
            /** Items */
            items: components["schemas"]["Note"][];
            /** Next */
            next: string | null;
        };
        /** FindingAnswer */
        FindingAnswer: {
            /** Claim */
            claim: string;
            /**
             * By
             * @description a model's name, or search for the server's own words
             */
            by: string;
            /** Citations */
            citations: components["schemas"]["CitationAnswer"][];
        };
        /** FindingsAndEvidence */
        FindingsAndEvidence: {
            /** Id */
            id: string;
            /** Commit */
            commit: string;
            /** Findings */
            findings: {
                [key: string]: unknown;
            }[] | null;
            /** Evidence */
            evidence: {
                [key: string]: unknown;
            };
        } & {
            [key: string]: unknown;
        };
        /** FiringShown */
        FiringShown: {
            /** Id */
            id: string;
            /** Schedule Id */
            schedule_id: string;
            /** Name */
            name: string;
            /** Tool */
            tool: string;
            /** Fire Time */
            fire_time: string;
            /** Kind */
            kind: string;
            /** Outcome */
            outcome: string;
            /** Reason */
            reason: string;
            /** Detail */
            detail: string;
            /** Attempt */
            attempt: number;
            /** Count */
            count: number;
            /** Until */
            until: string | null;
            /** Next Attempt */
            next_attempt: string | null;
            /** Started At */
            started_at: string | null;
            /** Closed At */
            closed_at: string | null;
            /** Milliseconds */
            milliseconds: number;
            /** Trace */
            trace: string;
        };
        /** FlagSet */
        FlagSet: {
            /** Name */
            name: string;
            /**
             * Meaning
             * @description what it lets happen
             */
            meaning: string;
            /** On */
            on: boolean;
            /**
             * Source
             * @enum {string}
             */
            source: "default" | "environment" | "record" | "operator" | "forged";
            /** Note */
            note: string;
            /**
             * Sequence
             * @description the record that set it last, or 0
             * @default 0
             */
            sequence: number;
        };
        /** FlagShown */
        FlagShown: {
            /** Name */
            name: string;
            /**
             * Meaning
             * @description what it lets happen
             */
            meaning: string;
            /** On */
            on: boolean;
            /**
             * Source
             * @enum {string}
             */
            source: "default" | "environment" | "record" | "operator" | "forged";
            /** Note */
            note: string;
            /**
             * Sequence
             * @description the record that set it last, or 0
             * @default 0
             */
            sequence: number;
        };
        /** FleetInstance */
        FleetInstance: {
            /** Instance */
            instance: string;
            /**
             * Release
             * @description what its worker last proved
             */
            release: string;
            /** State */
            state: string;
            /** Since */
            since: string;
            /** Wave */
            wave: number | null;
            /** Attempt */
            attempt: number;
            /**
             * Epoch
             * @description the term of its worker's lease when it proved that
             */
            epoch: number;
            /** Machine */
            machine: string;
            /** Reason */
            reason: string;
            /**
             * Present
             * @description its worker holds the lease of the instance now
             */
            present: boolean;
        };
        /** FleetRollout */
        FleetRollout: {
            /** Deployment */
            deployment: string;
            /** Release */
            release: string;
            /**
             * Recorded
             * @description what every instance goes back to
             */
            recorded: string | null;
            /** Phase */
            phase: string;
            /** Wave */
            wave: number;
            /** Waves */
            waves: string[][];
            /** Reason */
            reason: string;
            /** Instances */
            instances: {
                [key: string]: string;
            };
        };
        /**
         * FleetShown
         * @description The instances of `[deploy.fleet]`, and the newest rollout.
         */
        FleetShown: {
            /** On */
            on: boolean;
            /** Items */
            items: components["schemas"]["FleetInstance"][];
            rollout: components["schemas"]["FleetRollout"] | null;
        };
        /** GoalAnswer */
        GoalAnswer: {
            /** Id */
            id: string;
            /** Text */
            text: string;
            /** State */
            state: string;
            /** Source */
            source: string;
            /** Desire Id */
            desire_id: string | null;
            /** Approval Id */
            approval_id: string | null;
            /** Created At */
            created_at: string;
            /** Correlation */
            correlation: string;
            /** Category */
            category: string;
            /** Task */
            task: string;
            /** Criteria */
            criteria: {
                [key: string]: string;
            }[];
            /** Deadline */
            deadline: string | null;
            /**
             * Budget
             * @description money with its currency
             */
            budget: {
                [key: string]: number | string;
            };
            /** Usage */
            usage: {
                [key: string]: number;
            };
            /**
             * Money Limit
             * @description in all, for each time it was signed for
             */
            money_limit: number | null;
            /** Priority */
            priority: number;
            /** Parent */
            parent: string | null;
            /** Held */
            held: string;
            /** Why */
            why: string;
            /** Checks */
            checks: components["schemas"]["CriterionCheck"][];
            /**
             * Asks Model
             * @description whether a model is asked how to decompose it
             */
            asks_model: boolean;
        };
        /**
         * GoalContent
         * @description What the operator signs to propose a goal: all of it, in its one spelling.
         */
        GoalContent: {
            /** Text */
            text: string;
            /** Category */
            category: string;
            /** Task */
            task: string;
            /** Criteria */
            criteria: {
                [key: string]: string;
            }[];
            /** Deadline */
            deadline: string | null;
            /** Budget */
            budget: {
                [key: string]: number | string;
            };
            /** Priority */
            priority: number;
            /** Parent */
            parent: string | null;
            /** Source */
            source: string;
        };
        /** GoalDetails */
        GoalDetails: {
            /** Id */
            id: string;
            /** Text */
            text: string;
            /** State */
            state: string;
            /** Source */
            source: string;
            /** Desire Id */
            desire_id: string | null;
            /** Approval Id */
            approval_id: string | null;
            /** Created At */
            created_at: string;
            /** Correlation */
            correlation: string;
            /** Category */
            category: string;
            /** Task */
            task: string;
            /** Criteria */
            criteria: {
                [key: string]: string;
            }[];
            /** Deadline */
            deadline: string | null;
            /**
             * Budget
             * @description money with its currency
             */
            budget: {
                [key: string]: number | string;
            };
            /** Usage */
            usage: {
                [key: string]: number;
            };
            /**
             * Money Limit
             * @description in all, for each time it was signed for
             */
            money_limit: number | null;
            /** Priority */
            priority: number;
            /** Parent */
            parent: string | null;
            /** Held */
            held: string;
            /** Why */
            why: string;
            /** Checks */
            checks: components["schemas"]["CriterionCheck"][];
            /**
             * Asks Model
             * @description whether a model is asked how to decompose it
             */
            asks_model: boolean;
            /** Tasks */
            tasks: components["schemas"]["GoalTask"][];
            /**
             * Shortened
             * @default false
             */
            shortened: boolean;
        };
        /** GoalGraph */
        GoalGraph: {
            /** Goal */
            goal: string;
            /** State */
            state: string;
            /** Method */
            method: string;
            /** Methods Digest */
            methods_digest: string;
            /** Proposed By */
            proposed_by: string;
            /** Manifest */
            manifest: {
                [key: string]: string[];
            };
            /** Will Still Ask */
            will_still_ask: string[];
            /** Nodes */
            nodes: components["schemas"]["GoalTask"][];
            /** Edges */
            edges: components["schemas"]["GraphEdge"][];
        };
        /** GoalTask */
        GoalTask: {
            /** Goal */
            goal: string;
            /** Id */
            id: string;
            /** Kind */
            kind: string;
            /** Title */
            title: string;
            /** Path */
            path: string;
            /** State */
            state: string;
            /** Attempt */
            attempt: number;
            /** Waits On */
            waits_on: string;
            /** Reason */
            reason: string;
            /** Detail */
            detail: string;
            /** Outputs */
            outputs: {
                [key: string]: unknown;
            };
            /** Started At */
            started_at: string | null;
            /** Finished At */
            finished_at: string | null;
            /** Milliseconds */
            milliseconds: number;
            /** Model Calls */
            model_calls: number;
            /** Tokens */
            tokens: number;
            /**
             * Begun
             * @description how often it was begun in all
             */
            begun: number;
        };
        /** GrantChanged */
        GrantChanged: {
            /** Sequence */
            sequence: number;
            /** Kind */
            kind: string;
            /** Value */
            value: string;
        };
        /**
         * GrantContent
         * @description What the operator signs to add a grant.
         */
        GrantContent: {
            /** Kind */
            kind: string;
            /** Value */
            value: string;
            /** Level */
            level: string;
        };
        /** GrantPage */
        GrantPage: {
            /** Items */
            items: components["schemas"]["GrantShown"][];
            /** Next */
            next?: number | string | null;
            /**
             * Sequence
             * @description the record that changed the list last, or 0
             */
            sequence: number;
        };
        /** GrantShown */
        GrantShown: {
            /** Kind */
            kind: string;
            /** Value */
            value: string;
            /** Added At */
            added_at: string;
        };
        /** GraphEdge */
        GraphEdge: {
            /** From */
            from: string;
            /** To */
            to: string;
        };
        /** HeadShown */
        HeadShown: {
            /** Sequence */
            sequence: number;
            /** Hash */
            hash: string;
            /** Time */
            time: string;
        };
        /** Health */
        Health: {
            /**
             * Status
             * @constant
             */
            status: "ok";
        };
        /** HostLookedUp */
        HostLookedUp: {
            /**
             * Value
             * @description the grant, as the plan asks for it
             */
            value: string;
            /**
             * Outcome
             * @description whether the name exists, or why that is not known
             */
            outcome: string;
        };
        /** HostsLookedUp */
        HostsLookedUp: {
            /** Items */
            items: components["schemas"]["HostLookedUp"][];
        };
        /** InboxItemShown */
        InboxItemShown: {
            /** Id */
            id: string;
            /**
             * Kind
             * @description what a request is for, or `waiting_plan`, `resting_change`, `held_goal`, `failed_deployment`, `waiting_signature`, `alert`
             */
            kind: string;
            /**
             * Title
             * @description what it is, in one line, written by the server
             */
            title: string;
            /**
             * Why
             * @description why it waits
             */
            why: string;
            /** Waiting Since */
            waiting_since: string;
            /**
             * Command
             * @description what moves it on, in a terminal
             */
            command: string;
            /** Subject Id */
            subject_id: string;
            /**
             * Expires At
             * @description of a request: when it is withdrawn
             */
            expires_at: string | null;
        };
        /** IncomingShown */
        IncomingShown: {
            /** Id */
            id: string;
            /** Author */
            author: string;
            /** Email */
            email: string;
            /** Time */
            time: string;
            /** Subject */
            subject: string;
        } & {
            [key: string]: unknown;
        };
        /** KeyKind */
        KeyKind: {
            /**
             * Type
             * @constant
             */
            type: "public-key";
            /** Alg */
            alg: number;
        };
        /** LastSmoke */
        LastSmoke: {
            /** @description the newest run, or null where there was none */
            last: components["schemas"]["SmokeReport"] | null;
        };
        /** Leaving */
        Leaving: {
            /** Leaving */
            leaving: boolean;
            /**
             * Pid
             * @description the process that is about to end
             */
            pid: number;
        };
        /** LedgerShown */
        LedgerShown: {
            /** Records */
            records: number;
            /** Head */
            head: string;
            /** Time */
            time: string;
            /** Trouble */
            trouble: string;
            /**
             * Clock
             * @description that the last record is ahead of the clock
             * @default
             */
            clock: string;
            /**
             * Next Index
             * @description that another version is installed, and how far its index is
             * @default
             */
            next_index: string;
        };
        /**
         * LinesShown
         * @description Lines of a file of a change; very long ones are cut.
         */
        LinesShown: {
            /** Id */
            id: string;
            /** Commit */
            commit: string;
            /** Path */
            path: string;
            /**
             * Side
             * @enum {string}
             */
            side: "old" | "new";
            /** Start */
            start: number;
            /** Lines */
            lines: string[];
            /**
             * Total
             * @description how many lines the file has
             */
            total: number;
        };
        /**
         * LiveDifferenceShown
         * @description What putting a commit into service would change there.
         */
        LiveDifferenceShown: {
            live: components["schemas"]["LiveShown"] | null;
            /** Commit */
            commit: string;
            /** Diff */
            diff: string;
            /** Truncated */
            truncated: boolean;
            /**
             * Is Ahead
             * @description false where the live commit is not below it
             */
            is_ahead: boolean;
            /**
             * Commits
             * @description in it and not live yet, the newest first
             */
            commits: components["schemas"]["CommitShown"][];
            /**
             * More
             * @description there are more commits than are listed
             */
            more: boolean;
            /** Quarantined */
            quarantined: string;
            /** Contains */
            contains: components["schemas"]["ContainedShown"][];
            /**
             * History
             * @description earlier deployments of the same commit
             */
            history: components["schemas"]["AttemptShown"][];
        };
        /** LiveShown */
        LiveShown: {
            /** Release */
            release: string;
            /** Commit */
            commit: string;
        };
        /** LoginLink */
        LoginLink: {
            /**
             * Url
             * @description for one use, in one browser; its code is behind the #
             */
            url: string;
            /** Expires At */
            expires_at: string;
        };
        /** MachineForgotten */
        MachineForgotten: {
            /** Forgotten */
            forgotten: boolean;
        };
        /** MachineShown */
        MachineShown: {
            /** Id */
            id: string;
            /** Name */
            name: string;
            /** Answers */
            answers: boolean;
            /** Seen Seconds Ago */
            seen_seconds_ago: number;
            /** Leads */
            leads: string[];
        };
        /**
         * MachineStopped
         * @description Whether a stop is verified on one of the machines that share a chain.
         */
        MachineStopped: {
            /** Id */
            id: string;
            /** Name */
            name: string;
            /** Answers */
            answers: boolean;
            /** Seen Seconds Ago */
            seen_seconds_ago: number;
            /** Leads */
            leads: string[];
            /** Reached */
            reached: boolean;
        };
        /**
         * MachinesShown
         * @description The machines that share this chain; none where a data root is alone.
         */
        MachinesShown: {
            /** Own */
            own: string;
            /** Items */
            items: components["schemas"]["MachineShown"][];
        };
        /**
         * Matrix
         * @description What `make matrix` wrote: about which code, when, and each row.
         */
        Matrix: {
            /** Code */
            code: string;
            /** At */
            at: string;
            /** Rows */
            rows?: components["schemas"]["MatrixRow"][];
        };
        /** MatrixRow */
        MatrixRow: {
            /** Name */
            name: string;
            /** Flag */
            flag: string;
            /** Passed */
            passed: boolean;
            /** Summary */
            summary: string;
        };
        /** MatrixSigned */
        MatrixSigned: {
            /** Code */
            code: string;
            /** At */
            at: string;
            /** Rows */
            rows?: components["schemas"]["MatrixRow"][];
            /** Target */
            target: string;
        };
        /**
         * MergePermissionContent
         * @description What the operator signs, in its one spelling, with the sentence that says it.
         */
        MergePermissionContent: {
            /** Paths */
            paths: string[];
            /** Until */
            until: string;
            /** Uses */
            uses: number;
            /** Most Files */
            most_files: number;
            /** Most Lines */
            most_lines: number;
            /** Mutants */
            mutants: number;
            /** Deploy */
            deploy: boolean;
            /**
             * Plan
             * @default
             */
            plan: string;
            /** Permission */
            permission: string;
            /** Words */
            words: string;
        };
        /** MergePermissionShown */
        MergePermissionShown: {
            /** Paths */
            paths: string[];
            /** Until */
            until: string;
            /** Uses */
            uses: number;
            /** Most Files */
            most_files: number;
            /** Most Lines */
            most_lines: number;
            /** Mutants */
            mutants: number;
            /** Deploy */
            deploy: boolean;
            /**
             * Plan
             * @default
             */
            plan: string;
            /** Id */
            id: string;
            /** Words */
            words: string;
            /** Used */
            used: number;
            /** Left */
            left: number;
            /** Added At */
            added_at: string;
            /** State */
            state: string;
        };
        /**
         * MergeScope
         * @description What a permission is to cover, and under which conditions.
         */
        MergeScope: {
            /** Paths */
            paths: string[];
            /** Until */
            until: string;
            /** Uses */
            uses: number;
            /** Most Files */
            most_files: number;
            /** Most Lines */
            most_lines: number;
            /** Mutants */
            mutants: number;
            /** Deploy */
            deploy: boolean;
            /**
             * Plan
             * @default
             */
            plan: string;
        };
        /** MessageShown */
        MessageShown: {
            /** Sequence */
            sequence: number;
            /** Direction */
            direction: string;
            /** Kind */
            kind: string;
            /** Text */
            text: string;
            /** Time */
            time: string;
            /** Step */
            step: number | null;
        };
        /** ModelShown */
        ModelShown: {
            /** Id */
            id: string;
            /**
             * Object
             * @default model
             * @constant
             */
            object: "model";
            /** Created */
            created: number;
            /**
             * Owned By
             * @default astra
             * @constant
             */
            owned_by: "astra";
        };
        /** Models */
        Models: {
            /**
             * Object
             * @default list
             * @constant
             */
            object: "list";
            /** Data */
            data: components["schemas"]["ModelShown"][];
        };
        /**
         * Never
         * @description The answer of a promotion is always that it waits.
         */
        Never: Record<string, never>;
        /** Note */
        Note: {
            /** Sequence */
            sequence: number;
            /** Time */
            time: string;
            /** Kind */
            kind: string;
            /** About */
            about: string | null;
            /** Text */
            text: string;
        };
        /** Numbers */
        Numbers: {
            /** Days */
            days: string[];
            /**
             * Began
             * @description the day of the first record: before it nothing was counted
             */
            began: string;
            /** Series */
            series: components["schemas"]["Series"][];
            /**
             * Budgets
             * @description of the last seven days, the fullest first
             */
            budgets: components["schemas"]["BudgetDays"][];
            /**
             * Other Budgets
             * @description how many more there were in those seven days
             */
            other_budgets: number;
            /**
             * Queues
             * @description what waits now
             */
            queues: components["schemas"]["QueueShown"][];
        };
        /** Opened */
        Opened: {
            session: components["schemas"]["Session"];
            /**
             * Secret
             * @description told this once, for an Authorization header; null where a cookie was set
             */
            secret: string | null;
        };
        /** OperatorListed */
        OperatorListed: {
            /** Name */
            name: string;
            /**
             * Key
             * @description the public key
             */
            key: string;
            /** Fingerprint */
            fingerprint: string;
            role: components["schemas"]["RoleShown"];
            /** Passkeys */
            passkeys: string[];
            /**
             * Users
             * @description ids of OS users who are the operator at a terminal
             */
            users: string[];
            /** Since */
            since: string;
            /**
             * Signed By
             * @description who enrolled the operator; nobody did the owner
             */
            signed_by: string[];
        };
        /** OperatorRotated */
        OperatorRotated: {
            /** Sequence */
            sequence: number;
            /** Public Key */
            public_key: string;
        };
        /** OperatorShown */
        OperatorShown: {
            /** Root Id */
            root_id: string;
            /** Public Key */
            public_key: string;
            /** Throwaway */
            throwaway: boolean;
        };
        /** OperatorsShown */
        OperatorsShown: {
            /** Items */
            items: components["schemas"]["OperatorListed"][];
            rules: components["schemas"]["RulesShown"];
            /** Waiting */
            waiting: components["schemas"]["RoundShown"][];
        };
        /** OutputShown */
        OutputShown: {
            /** Text */
            text: string;
            /**
             * Position
             * @description where to go on reading
             */
            position: number;
        };
        /**
         * Overlap
         * @enum {string}
         */
        Overlap: "skip" | "queue" | "cancel-previous";
        /** Page[ApprovalShown] */
        Page_ApprovalShown_: {
            /** Items */
            items: components["schemas"]["ApprovalShown"][];
            /** Next */
            next?: number | string | null;
        };
        /** Page[BeliefAnswer] */
        Page_BeliefAnswer_: {
            /** Items */
            items: components["schemas"]["BeliefAnswer"][];
            /** Next */
            next?: number | string | null;
        };
        /** Page[BudgetShown] */
        Page_BudgetShown_: {
            /** Items */
            items: components["schemas"]["BudgetShown"][];
            /** Next */
            next?: number | string | null;
        };
        /** Page[ChangeBrief] */
        Page_ChangeBrief_: {
            /** Items */
            items: components["schemas"]["ChangeBrief"][];
            /** Next */
            next?: number | string | null;
        };
        /** Page[DeploymentShown] */
        Page_DeploymentShown_: {
            /** Items */
            items: components["schemas"]["DeploymentShown"][];
            /** Next */
            next?: number | string | null;
        };
        /** Page[DesireShown] */
        Page_DesireShown_: {
            /** Items */
            items: components["schemas"]["DesireShown"][];
            /** Next */
            next?: number | string | null;
        };
        /** Page[FiringShown] */
        Page_FiringShown_: {
            /** Items */
            items: components["schemas"]["FiringShown"][];
            /** Next */
            next?: number | string | null;
        };
        /** Page[FlagShown] */
        Page_FlagShown_: {
            /** Items */
            items: components["schemas"]["FlagShown"][];
            /** Next */
            next?: number | string | null;
        };
        /** Page[GoalAnswer] */
        Page_GoalAnswer_: {
            /** Items */
            items: components["schemas"]["GoalAnswer"][];
            /** Next */
            next?: number | string | null;
        };
        /** Page[InboxItemShown] */
        Page_InboxItemShown_: {
            /** Items */
            items: components["schemas"]["InboxItemShown"][];
            /** Next */
            next?: number | string | null;
        };
        /** Page[MergePermissionShown] */
        Page_MergePermissionShown_: {
            /** Items */
            items: components["schemas"]["MergePermissionShown"][];
            /** Next */
            next?: number | string | null;
        };
        /** Page[MessageShown] */
        Page_MessageShown_: {
            /** Items */
            items: components["schemas"]["MessageShown"][];
            /** Next */
            next?: number | string | null;
        };
        /** Page[PasskeyShown] */
        Page_PasskeyShown_: {
            /** Items */
            items: components["schemas"]["PasskeyShown"][];
            /** Next */
            next?: number | string | null;
        };
        /** Page[PermissionShown] */
        Page_PermissionShown_: {
            /** Items */
            items: components["schemas"]["PermissionShown"][];
            /** Next */
            next?: number | string | null;
        };
        /** Page[PlanBrief] */
        Page_PlanBrief_: {
            /** Items */
            items: components["schemas"]["PlanBrief"][];
            /** Next */
            next?: number | string | null;
        };
        /** Page[RecordShown] */
        Page_RecordShown_: {
            /** Items */
            items: components["schemas"]["RecordShown"][];
            /** Next */
            next?: number | string | null;
        };
        /** Page[ReleaseShown] */
        Page_ReleaseShown_: {
            /** Items */
            items: components["schemas"]["ReleaseShown"][];
            /** Next */
            next?: number | string | null;
        };
        /** Page[ResearchBrief] */
        Page_ResearchBrief_: {
            /** Items */
            items: components["schemas"]["ResearchBrief"][];
            /** Next */
            next?: number | string | null;
        };
        /** Page[ScheduleShown] */
        Page_ScheduleShown_: {
            /** Items */
            items: components["schemas"]["ScheduleShown"][];
            /** Next */
            next?: number | string | null;
        };
        /** Page[ServerShown] */
        Page_ServerShown_: {
            /** Items */
            items: components["schemas"]["ServerShown"][];
            /** Next */
            next?: number | string | null;
        };
        /** Page[TaskAnswer] */
        Page_TaskAnswer_: {
            /** Items */
            items: components["schemas"]["TaskAnswer"][];
            /** Next */
            next?: number | string | null;
        };
        /** Page[TokenShown] */
        Page_TokenShown_: {
            /** Items */
            items: components["schemas"]["TokenShown"][];
            /** Next */
            next?: number | string | null;
        };
        /** Page[ToolShown] */
        Page_ToolShown_: {
            /** Items */
            items: components["schemas"]["ToolShown"][];
            /** Next */
            next?: number | string | null;
        };
        /** Part */
        Part: {
            /**
             * Type
             * @description the persona reads text only
             * @constant
             */
            type: "text";
            /** Text */
            text: string;
        };
        /** PasskeyEnrolled */
        PasskeyEnrolled: {
            /** Id */
            id: string;
            /** Name */
            name: string;
            /** Credential */
            credential: string;
            /** Site */
            site: string;
            /** Origin */
            origin: string;
            /** Enrolled At */
            enrolled_at: string;
            /**
             * Revoked At
             * @description or empty
             */
            revoked_at: string;
            /**
             * Operator
             * @description whose it is; it has their role
             */
            operator: string;
            /** Sequence */
            sequence: number;
        };
        /**
         * PasskeyLogin
         * @description A browser's answer to a login's challenge, each part in base64url.
         */
        PasskeyLogin: {
            /** Credential */
            credential: string;
            /** Authenticator Data */
            authenticator_data: string;
            /** Client Data */
            client_data: string;
            /** Signature */
            signature: string;
        };
        /** PasskeyMade */
        PasskeyMade: {
            /**
             * Check
             * @description six digits that the terminal shows too
             */
            check: string;
        };
        /** PasskeyShown */
        PasskeyShown: {
            /** Id */
            id: string;
            /** Name */
            name: string;
            /** Credential */
            credential: string;
            /** Site */
            site: string;
            /** Origin */
            origin: string;
            /** Enrolled At */
            enrolled_at: string;
            /**
             * Revoked At
             * @description or empty
             */
            revoked_at: string;
            /**
             * Operator
             * @description whose it is; it has their role
             */
            operator: string;
        };
        /** PasskeyUser */
        PasskeyUser: {
            /** Id */
            id: string;
            /** Name */
            name: string;
            /** Displayname */
            displayName: string;
        };
        /**
         * Payload
         * @description All of what would be signed, as the one text that every door shows.
         */
        Payload: {
            /** Text */
            text: string;
            /** Lines */
            lines: number;
            /** Characters */
            characters: number;
            /** Sha256 */
            sha256: string;
        };
        /** PermissionChanged */
        PermissionChanged: {
            /** Id */
            id: string;
            /** Sequence */
            sequence: number;
        };
        /**
         * PermissionContent
         * @description What the operator signs, in its one spelling.
         */
        PermissionContent: {
            /** Permission */
            permission: string;
            /** Tool */
            tool: string;
            /** Host */
            host: string;
            /** Method */
            method: string;
            /** Until */
            until: string;
            /** Uses */
            uses: number;
        };
        /** PermissionShown */
        PermissionShown: {
            /** Id */
            id: string;
            /** Tool */
            tool: string;
            /** Host */
            host: string;
            /** Method */
            method: string;
            /** Until */
            until: string;
            /** Uses */
            uses: number;
            /** Used */
            used: number;
            /** Left */
            left: number;
            /** Added At */
            added_at: string;
            /** State */
            state: string;
        };
        /** PlanBrief */
        PlanBrief: {
            /** Id */
            id: string;
            /** State */
            state: string;
            /** Reason */
            reason: string;
            /** Description */
            description: string;
            /** Goals */
            goals: string[];
            /** Checkpoints */
            checkpoints: number;
            /** Checkpoints Done */
            checkpoints_done: number;
            /** Asks */
            asks: boolean;
            /** Steps */
            steps: number;
            /** Created At */
            created_at: string;
            /** Updated At */
            updated_at: string | null;
        };
        /** PlanDrafted */
        PlanDrafted: {
            /** Id */
            id: string;
            /** State */
            state: string;
            /** Reason */
            reason: string;
            /** Detail */
            detail: string;
            /** Questions */
            questions: string[];
            /** Approval Id */
            approval_id: string | null;
            /** Next */
            next: string;
        };
        /** PlanShown */
        PlanShown: {
            /** Id */
            id: string;
            /** State */
            state: string;
            /** Reason */
            reason: string;
            /** Description */
            description: string;
            /** Goals */
            goals: string[];
            /** Checkpoints */
            checkpoints: number;
            /** Checkpoints Done */
            checkpoints_done: number;
            /** Asks */
            asks: boolean;
            /** Steps */
            steps: number;
            /** Created At */
            created_at: string;
            /** Updated At */
            updated_at: string | null;
            /** Detail */
            detail: string;
            /** Plan */
            plan: {
                [key: string]: unknown;
            } | null;
            /** Plan Hash */
            plan_hash: string | null;
            /** Manifest */
            manifest: {
                [key: string]: unknown;
            } | null;
            /** Grants */
            grants: {
                [key: string]: unknown;
            } | null;
            /** Grants Hash */
            grants_hash: string | null;
            /** Approval Id */
            approval_id: string | null;
            /** Questions */
            questions: string[];
            /** Round */
            round: number;
            /** Block */
            block: {
                [key: string]: unknown;
            } | null;
            /** Usage */
            usage: {
                [key: string]: number;
            };
            /** Progress */
            progress: {
                [key: string]: unknown;
            };
            /**
             * Steps Taken
             * @description the last fifty
             */
            steps_taken: {
                [key: string]: unknown;
            }[];
            /**
             * Costs
             * @description of all steps, for each checkpoint begun
             */
            costs: components["schemas"]["CheckpointCost"][];
            /** Messages */
            messages: {
                [key: string]: unknown;
            }[];
            /** Silenced */
            silenced: boolean;
            /** Correlation */
            correlation: string;
            /** Next */
            next: string;
            /**
             * Shortened
             * @default false
             */
            shortened: boolean;
        };
        /** ProblemFound */
        ProblemFound: {
            /** Kind */
            kind: string;
            /** Sequence */
            sequence: number;
            /** Detail */
            detail: string;
        };
        /** Pruned */
        Pruned: {
            /** Pruned */
            pruned: number;
        };
        /**
         * QueueShown
         * @description What waits somewhere, and what has waited longest.
         */
        QueueShown: {
            /** Name */
            name: string;
            /** About */
            about: string;
            /** Count */
            count: number;
            /**
             * Oldest
             * @description the id of what has waited longest
             */
            oldest: string | null;
            /** Since */
            since: string | null;
        };
        /** Readiness */
        Readiness: {
            /** Sha256 */
            sha256: string;
            /** Go */
            go: boolean;
            /** At */
            at: string;
            /** Head */
            head: string;
            /** Lines */
            lines: components["schemas"]["ReadinessLine"][];
        };
        /** ReadinessLine */
        ReadinessLine: {
            /** Name */
            name: string;
            /** Go */
            go: boolean;
            /** Evidence */
            evidence: string;
        };
        /**
         * ReadinessSigned
         * @description What an operator signs of a report.
         */
        ReadinessSigned: {
            /** Sha256 */
            sha256: string;
            /** Go */
            go: boolean;
            /** At */
            at: string;
        };
        /** Rebuilt */
        Rebuilt: {
            /** Records */
            records?: number | null;
            /** Same */
            same?: boolean | null;
            /** Differences */
            differences?: string[] | null;
        };
        /**
         * Receipt
         * @description A DSSE envelope.
         */
        Receipt: {
            /** Payloadtype */
            payloadType: string;
            /**
             * Payload
             * @description JSON in base64
             */
            payload: string;
            /** Signatures */
            signatures: components["schemas"]["ReceiptSignature"][];
        };
        /** ReceiptSignature */
        ReceiptSignature: {
            /**
             * Keyid
             * @description the ledger's public key, in hex
             */
            keyid: string;
            /**
             * Sig
             * @description Ed25519 over the DSSE encoding of type and payload, in base64
             */
            sig: string;
        };
        /** RecordShown */
        RecordShown: {
            /** Sequence */
            sequence: number;
            /** Time */
            time: string;
            /** Type */
            type: string;
            /** Actor */
            actor: string;
            /** Correlation */
            correlation: string;
            /** Subject */
            subject: string | null;
            /** Key */
            key: string | null;
            /** Schema */
            schema: number;
            /** Batch */
            batch: number[];
            /** Data */
            data: {
                [key: string]: unknown;
            };
            /** Previous */
            previous: string;
            /** Hash */
            hash: string;
            /**
             * Sentence
             * @description what happened this time, in one line
             */
            sentence: string;
        };
        /** Recorded */
        Recorded: {
            /** Recorded */
            recorded: boolean;
            /**
             * Machines
             * @default []
             */
            machines: components["schemas"]["MachineStopped"][];
        };
        /** RejectionGiven */
        RejectionGiven: {
            /** Remarks */
            remarks?: components["schemas"]["RemarkGiven"][];
            /**
             * Commit
             * @description of the change that was seen
             */
            commit?: string | null;
            /** Reason */
            reason: string;
        };
        /** ReleaseShown */
        ReleaseShown: {
            /** Id */
            id: string;
            /** Commit */
            commit: string;
            /** Digest */
            digest: string;
            /** State */
            state: string;
            /** Good */
            good: boolean;
            /** Live */
            live: boolean;
            /** Built At */
            built_at: string;
            /** Files */
            files: number;
            /** Size */
            size: number;
            /** Settings */
            settings: string;
            /** Quarantined */
            quarantined: boolean;
            /**
             * About
             * @description why the change that brought its commit was made
             * @default
             */
            about: string;
        };
        /** RelyingParty */
        RelyingParty: {
            /** Id */
            id: string;
            /** Name */
            name: string;
        };
        /**
         * RemarkGiven
         * @description What a reviewer says about one line, before (`old`) or after (`new`) the change.
         */
        RemarkGiven: {
            /** Path */
            path: string;
            /**
             * Side
             * @default new
             * @enum {string}
             */
            side: "old" | "new";
            /** Line */
            line: number;
            /** Text */
            text: string;
        };
        /**
         * RequestOptions
         * @description For `PublicKeyCredential.parseRequestOptionsFromJSON`.
         */
        RequestOptions: {
            /** Challenge */
            challenge: string;
            /** Rpid */
            rpId: string;
            /** Allowcredentials */
            allowCredentials: components["schemas"]["CredentialNamed"][];
            /** Userverification */
            userVerification: string;
            /** Timeout */
            timeout: number;
        };
        /** ResearchBrief */
        ResearchBrief: {
            /** Id */
            id: string;
            /** Question */
            question: string;
            /** State */
            state: string;
            /** Actor */
            actor: string;
            /** Correlation */
            correlation: string;
            /** Started At */
            started_at: string;
            /** Finished At */
            finished_at: string | null;
            /** Findings */
            findings: number;
            /** Sequence */
            sequence: number;
        };
        /**
         * ResearchCited
         * @description The research that a change names, with its citations as they stand now.
         */
        ResearchCited: {
            /** Id */
            id: string;
            /** Question */
            question: string;
            /** Narrative */
            narrative: string;
            /** Findings */
            findings: components["schemas"]["FindingAnswer"][];
            /** More */
            more: number;
            /** Unsupported */
            unsupported: number;
            /** Remark */
            remark: string;
        };
        /** ResearchShown */
        ResearchShown: {
            /** Id */
            id: string;
            /** Question */
            question: string;
            /** State */
            state: string;
            /** Commit */
            commit: string;
            /** Actor */
            actor: string;
            /** Correlation */
            correlation: string;
            /** Started At */
            started_at: string;
            /** Finished At */
            finished_at: string | null;
            /** Sources */
            sources: string[];
            /** Max Tasks */
            max_tasks: number;
            /** Max Depth */
            max_depth: number;
            /** Narrative */
            narrative: string;
            /** Note */
            note: string;
            /**
             * Unsupported
             * @description claims whose quote was not found; they are not shown
             */
            unsupported: number;
            /** Tokens */
            tokens: number;
            /** Findings */
            findings: components["schemas"]["FindingAnswer"][];
            /** Contested */
            contested: components["schemas"]["ContestedAnswer"][];
            /** Open Questions */
            open_questions: string[];
            /** Coverage */
            coverage: {
                [key: string]: unknown;
            } | null;
            /** Tasks */
            tasks: components["schemas"]["SearchTaskAnswer"][];
            /** Remark */
            remark: string;
        };
        /**
         * RestoreShown
         * @description Why the ledger is held, and what the operator signs to go on.
         */
        RestoreShown: {
            /** Held */
            held: string[];
            /** Content */
            content: {
                [key: string]: unknown;
            };
        };
        /**
         * Role
         * @enum {string}
         */
        Role: "agent" | "viewer" | "operator" | "service";
        /** RoleShown */
        RoleShown: {
            /** Duties */
            duties: string[];
            /**
             * Tier
             * @description the highest tier of a call that the operator may approve
             */
            tier: number;
            /**
             * Paths
             * @description globs; none where it is for every path
             */
            paths: string[];
        };
        /**
         * RollbackContent
         * @description What the operator signs to go back.
         */
        RollbackContent: {
            /** Release */
            release: string;
            /** Serving */
            serving: string;
        };
        /**
         * RoundShown
         * @description A decision that has some of the signatures that it takes.
         */
        RoundShown: {
            /** Round */
            round: string;
            /**
             * Action
             * @description the record that it will be
             */
            action: string;
            /**
             * Content
             * @description what is signed, word for word
             */
            content: {
                [key: string]: unknown;
            };
            /** Needed */
            needed: number;
            /** Signed By */
            signed_by: string[];
            /** Words */
            words: string;
            /** Since */
            since: string;
        };
        /** RulesShown */
        RulesShown: {
            /**
             * Quorum
             * @description how many operators sign, by what it is about
             */
            quorum: {
                [key: string]: number;
            };
            /**
             * Separate Approver
             * @description whether who asked may not approve
             */
            separate_approver: boolean;
        };
        /** Said */
        Said: {
            /**
             * Role
             * @enum {string}
             */
            role: "system" | "developer" | "user" | "assistant";
            /**
             * Content
             * @default
             */
            content: string | components["schemas"]["Part"][];
        };
        /** SandboxProblem */
        SandboxProblem: {
            /** What */
            what: string;
            /** Fix */
            fix: string;
        };
        /** SandboxShown */
        SandboxShown: {
            /** Kind */
            kind: string;
            /** State */
            state: string;
            /** Problems */
            problems: components["schemas"]["SandboxProblem"][];
            /** Limits */
            limits: string;
            /** Off In Environment */
            off_in_environment: boolean;
            /** Off Signed */
            off_signed: boolean;
        } & {
            [key: string]: unknown;
        };
        /** ScheduleCreated */
        ScheduleCreated: {
            /** Id */
            id: string;
            /** Name */
            name: string;
            /** Cron Expression */
            cron_expression: string;
            /** Timezone */
            timezone: string;
            /** Target Tool */
            target_tool: string;
            /** Payload */
            payload: {
                [key: string]: unknown;
            };
            /** Safety Tier */
            safety_tier: number;
            /** Per Day Budget */
            per_day_budget: number;
            /** Overlap */
            overlap: string;
            /** Catch Up Seconds */
            catch_up_seconds: number;
            /** Attempts */
            attempts: number;
            /** Backoff Seconds */
            backoff_seconds: number;
            /** Jitter Seconds */
            jitter_seconds: number;
            /** After */
            after: string[];
            /** Slow After */
            slow_after: number;
            /** Slow Below */
            slow_below: number;
            /** Slowest */
            slowest: number;
            /** State */
            state: string;
            /** Next Run */
            next_run: string | null;
            /** Next Runs */
            next_runs: string[];
            /** Created At */
            created_at: string;
            /** Modified */
            modified: boolean;
            /** Every */
            every: number;
            /** Failures */
            failures: number;
            /** Etag */
            etag: string;
            /** Created */
            created: boolean;
        };
        /** ScheduleShown */
        ScheduleShown: {
            /** Id */
            id: string;
            /** Name */
            name: string;
            /** Cron Expression */
            cron_expression: string;
            /** Timezone */
            timezone: string;
            /** Target Tool */
            target_tool: string;
            /** Payload */
            payload: {
                [key: string]: unknown;
            };
            /** Safety Tier */
            safety_tier: number;
            /** Per Day Budget */
            per_day_budget: number;
            /** Overlap */
            overlap: string;
            /** Catch Up Seconds */
            catch_up_seconds: number;
            /** Attempts */
            attempts: number;
            /** Backoff Seconds */
            backoff_seconds: number;
            /** Jitter Seconds */
            jitter_seconds: number;
            /** After */
            after: string[];
            /** Slow After */
            slow_after: number;
            /** Slow Below */
            slow_below: number;
            /** Slowest */
            slowest: number;
            /** State */
            state: string;
            /** Next Run */
            next_run: string | null;
            /** Next Runs */
            next_runs: string[];
            /** Created At */
            created_at: string;
            /** Modified */
            modified: boolean;
            /** Every */
            every: number;
            /** Failures */
            failures: number;
            /** Etag */
            etag: string;
        };
        /** SearchTaskAnswer */
        SearchTaskAnswer: {
            /** Number */
            number: number;
            /** Sources */
            sources: string[];
            /** Query */
            query: string;
            /** Depth */
            depth: number;
            /** Parent */
            parent: number | null;
            /** Url */
            url: string;
            /** State */
            state: string;
            /** Passages */
            passages: number;
            /** Trouble */
            trouble: string;
        };
        /** Series */
        Series: {
            /** Name */
            name: string;
            /** About */
            about: string;
            /** Total */
            total: number;
            /**
             * Values
             * @description one for each of `days`
             */
            values: number[];
        };
        /** ServerAccepted */
        ServerAccepted: {
            /** Server */
            server: string;
            /** Sequence */
            sequence: number;
            /** Usable */
            usable: number;
        };
        /**
         * ServerContent
         * @description What the operator signs to accept the tools of a server, as it lists them now.
         */
        ServerContent: {
            /** Server */
            server: string;
            /** Tools */
            tools: {
                [key: string]: string;
            }[];
        };
        /** ServerDetails */
        ServerDetails: {
            /** Name */
            name: string;
            /** Where */
            where: string;
            /** Running */
            running: boolean;
            /** Trouble */
            trouble: string;
            /** Looked At */
            looked_at: boolean;
            /** Usable */
            usable: number;
            /** Resting */
            resting: number;
            /** Calls Per Day */
            calls_per_day: number;
            /** Tools */
            tools: components["schemas"]["ServerToolShown"][];
            /** Read Paths */
            read_paths: string[];
            /** Write Paths */
            write_paths: string[];
            /** Network */
            network: string[];
            /** Secrets */
            secrets: string[];
        };
        /** ServerShown */
        ServerShown: {
            /** Name */
            name: string;
            /** Where */
            where: string;
            /** Running */
            running: boolean;
            /** Trouble */
            trouble: string;
            /** Looked At */
            looked_at: boolean;
            /** Usable */
            usable: number;
            /** Resting */
            resting: number;
            /** Calls Per Day */
            calls_per_day: number;
        };
        /** ServerToolShown */
        ServerToolShown: {
            /** Name */
            name: string;
            /** Imported As */
            imported_as: string;
            /** Tier */
            tier: number;
            /** State */
            state: string;
            /** Description */
            description: string;
        };
        /** ServersShown */
        ServersShown: {
            /** Count */
            count: number;
            /**
             * Resting
             * @description servers with tools that wait for a signature
             */
            resting: string[];
            /**
             * Troubles
             * @description servers that do not run, and why
             */
            troubles: {
                [key: string]: string;
            };
        };
        /** Session */
        Session: {
            /** Id */
            id: string;
            role: components["schemas"]["Role"];
            /**
             * By
             * @enum {string}
             */
            by: "link" | "passkey" | "token" | "socket";
            /** Expires At */
            expires_at: string | null;
            /**
             * Csrf
             * @description to be sent as X-CSRF-Token where the session is a cookie
             */
            csrf: string | null;
        };
        /** SignaturesShown */
        SignaturesShown: {
            /**
             * Needed
             * @description how many operators have to sign
             */
            needed: number;
            /**
             * Rounds
             * @description what was signed so far, by content
             */
            rounds: components["schemas"]["RoundShown"][];
            /**
             * Signed By
             * @description whose signatures granted it
             */
            signed_by: string[];
        };
        /** SilenceChanged */
        SilenceChanged: {
            /** Alert */
            alert: string;
            /** Sequence */
            sequence: number;
        };
        /**
         * SilenceContent
         * @description What the operator signs to silence a rule.
         */
        SilenceContent: {
            /** Alert */
            alert: string;
            /** Until */
            until: string;
            /** Reason */
            reason: string;
        };
        /** SmokeItem */
        SmokeItem: {
            /** Name */
            name: string;
            /** Ok */
            ok: boolean;
            /** Milliseconds */
            milliseconds: number;
            /** Detail */
            detail: string;
        };
        /** SmokeReport */
        SmokeReport: {
            /** Id */
            id: string;
            /** Ok */
            ok: boolean;
            /** At */
            at: string;
            /** Milliseconds */
            milliseconds: number;
            /** Items */
            items: components["schemas"]["SmokeItem"][];
        };
        /** SmokeSummary */
        SmokeSummary: {
            /** Id */
            id: string;
            /** At */
            at: string;
            /** Ok */
            ok: boolean;
            /**
             * Failed
             * @description the names of the parts that did not answer well
             */
            failed: string[];
        };
        /** SpendCap */
        SpendCap: {
            /** Cap */
            cap: string;
            /** Limit */
            limit: number;
            /** In Words */
            in_words: string;
        };
        /** SpendGauge */
        SpendGauge: {
            /**
             * Cap
             * @description a setting such as tokens_per_day, or budget_of_money
             */
            cap: string;
            /**
             * Name
             * @description the actor, goal or plan; empty for a day
             */
            name: string;
            /**
             * Used
             * @description settled, uncertain and reserved together
             */
            used: number;
            /**
             * Reserved
             * @description of calls that are not settled
             */
            reserved: number;
            /**
             * Uncertain
             * @description of calls whose server reported nothing believable
             */
            uncertain: number;
            /**
             * Limit
             * @description in force: the configured one, or what was signed for
             */
            limit: number;
            /** Configured */
            configured: number;
            /** Share */
            share: number;
            /** In Words */
            in_words: string;
        };
        /** SpendRow */
        SpendRow: {
            /** Name */
            name: string;
            /** Calls */
            calls: number;
            /**
             * Tokens
             * @description settled, uncertain and reserved together
             */
            tokens: number;
            /** Money */
            money: number;
            /** Reserved Tokens */
            reserved_tokens: number;
            /** Reserved Money */
            reserved_money: number;
            /** Uncertain Tokens */
            uncertain_tokens: number;
            /** Uncertain Money */
            uncertain_money: number;
        };
        /** SpendShown */
        SpendShown: {
            /**
             * Day
             * @description in UTC
             */
            day: string;
            /** Currency */
            currency: string;
            /**
             * Caps
             * @description as configured; without one only goals with a budget of money are counted
             */
            caps: components["schemas"]["SpendCap"][];
            /** Gauges */
            gauges: components["schemas"]["SpendGauge"][];
            /**
             * Actors
             * @description of this day
             */
            actors: components["schemas"]["SpendRow"][];
            /**
             * Goals
             * @description those that called today, with all they ever took
             */
            goals: components["schemas"]["SpendRow"][];
            /**
             * Plans
             * @description those that called today, with all they ever took
             */
            plans: components["schemas"]["SpendRow"][];
            /**
             * Models
             * @description of this day
             */
            models: components["schemas"]["SpendRow"][];
            /** Unsettled */
            unsettled: components["schemas"]["UnsettledCall"][];
        };
        /** SpendSummary */
        SpendSummary: {
            /**
             * Summary
             * @description the fullest cap in one line; empty where none is set
             */
            summary: string;
            /**
             * Gauges
             * @description the fullest first
             */
            gauges: components["schemas"]["SpendGauge"][];
        };
        /**
         * StatementDrafted
         * @description A decision to be signed with a passkey.
         *
         *     Send it back as `authority`: the statement, `key` (the passkey's id), and of the browser's
         *     answer `signature`, `authenticator_data` and `client_data`, each in base64url.
         */
        StatementDrafted: {
            /** Statement */
            statement: {
                [key: string]: unknown;
            };
            options: components["schemas"]["RequestOptions"];
            /**
             * Passkeys
             * @description the passkey's id, by its credential
             */
            passkeys: {
                [key: string]: string;
            };
        };
        /** Status */
        Status: {
            /** Version */
            version: string;
            /** Data Root */
            data_root: string;
            /** Root Id */
            root_id: string;
            /** Throwaway */
            throwaway: boolean;
            daemon: components["schemas"]["DaemonShown"];
            /** Flags */
            flags: {
                [key: string]: components["schemas"]["FlagShown"];
            };
            /**
             * Code Access
             * @enum {string}
             */
            code_access: "off" | "read" | "write";
            /** Configuration */
            configuration: string;
            /** Stopped */
            stopped: boolean;
            /**
             * Held
             * @description why nothing may begin until the operator signs a restore
             */
            held: string[];
            witness: components["schemas"]["WitnessShown"];
            approvals: components["schemas"]["ApprovalCount"];
            /** Queues */
            queues: components["schemas"]["QueueShown"][];
            /** Budgets */
            budgets: components["schemas"]["BudgetWeek"][];
            /** Read Scope */
            read_scope: string;
            sandbox: components["schemas"]["SandboxShown"];
            ledger: components["schemas"]["LedgerShown"];
            executor: components["schemas"]["ExecutorShown"];
            /** App */
            app: {
                [key: string]: unknown;
            } | null;
            /** @description the last `astra smoke`, or null */
            smoke: components["schemas"]["SmokeSummary"] | null;
            /** Model */
            model: string | null;
            disk: components["schemas"]["DiskShown"];
            servers: components["schemas"]["ServersShown"];
            spend: components["schemas"]["SpendSummary"];
            /** Changes */
            changes: {
                [key: string]: unknown;
            };
        } & {
            [key: string]: unknown;
        };
        /** StopShown */
        StopShown: {
            /** Stopped */
            stopped: boolean;
            /** Stop */
            stop: string;
            /** Report */
            report: {
                [key: string]: unknown;
            };
        };
        /** Stopped */
        Stopped: {
            /** Stop */
            stop: string;
            /** Recorded */
            recorded: boolean;
            /**
             * Machines
             * @default []
             */
            machines: components["schemas"]["MachineStopped"][];
            /** Frozen */
            frozen: boolean;
            /** Ended */
            ended: number;
            /** Already Gone */
            already_gone: number;
            /** Kept Apps */
            kept_apps: number;
            /** Survivors */
            survivors: components["schemas"]["Survivor"][];
            /** Unreadable */
            unreadable: string[];
            /** Clean */
            clean: boolean;
        };
        /**
         * StoryPage
         * @description A page of a story, with the beliefs that its records moved.
         */
        StoryPage: {
            /** Items */
            items: components["schemas"]["RecordShown"][];
            /** Next */
            next?: number | string | null;
            /**
             * Beliefs
             * @default []
             */
            beliefs: components["schemas"]["BeliefMove"][];
        };
        /** StreamOptions */
        StreamOptions: {
            /**
             * Include Usage
             * @default false
             */
            include_usage: boolean;
        };
        /**
         * Subscription
         * @description What a browser's `PushSubscription.toJSON()` gives.
         */
        Subscription: {
            /** Endpoint */
            endpoint: string;
            keys: components["schemas"]["SubscriptionKeys"];
        };
        /** SubscriptionKeys */
        SubscriptionKeys: {
            /** P256Dh */
            p256dh: string;
            /** Auth */
            auth: string;
        };
        /** Suggestion */
        Suggestion: {
            desire: components["schemas"]["DesireAnswer"];
            evidence: components["schemas"]["Evidence"];
        };
        /** Suggestions */
        Suggestions: {
            /** Items */
            items: components["schemas"]["Suggestion"][];
            /** Next */
            next?: null;
        };
        /** Survivor */
        Survivor: {
            /** Box */
            box: string;
            /** Label */
            label: string;
            /** Pids */
            pids: number[];
        };
        /**
         * SyncShown
         * @description How the upstream stands to the target's branch.
         */
        SyncShown: {
            /**
             * State
             * @description up_to_date, awaiting_approval, merged or diverged
             */
            state: string;
            /**
             * Upstream
             * @description where commits come from; empty where there is no upstream
             */
            upstream: string;
            /** Head */
            head: string;
            /** Tip */
            tip: string | null;
            /** Incoming */
            incoming: components["schemas"]["IncomingShown"][];
            /** Incoming Total */
            incoming_total: number;
            /**
             * Incoming Later
             * @description how many wait behind these, for a later signature
             * @default 0
             */
            incoming_later: number;
            /** Approval Id */
            approval_id: string | null;
        } & {
            [key: string]: unknown;
        };
        /** TaskAnswer */
        TaskAnswer: {
            /** Id */
            id: string;
            /** Kind */
            kind: string;
            /** Source */
            source: string;
            /** Title */
            title: string;
            /** Tool */
            tool: string;
            /** Schedule */
            schedule: string;
            /** Enabled */
            enabled: boolean;
            /** State */
            state: string;
            /** Outcome */
            outcome: string;
            /** Subject Id */
            subject_id: string;
            /** Attempt */
            attempt: number;
            /** Waits On */
            waits_on: string;
            /** Reason */
            reason: string;
            /** Detail */
            detail: string;
            /** Created At */
            created_at: string;
            /** Started At */
            started_at: string | null;
            /** Finished At */
            finished_at: string | null;
            /** Milliseconds */
            milliseconds: number;
            /** Correlation */
            correlation: string;
            /** Trace */
            trace: string;
        };
        /** TokenCreated */
        TokenCreated: {
            /** Id */
            id: string;
            /** Name */
            name: string;
            role: components["schemas"]["Role"];
            /** Created At */
            created_at: string;
            /** Expires At */
            expires_at: string;
            /**
             * Ended
             * @description when it was revoked, or empty
             */
            ended: string;
            limits: components["schemas"]["TokenLimits"];
            /**
             * Made By
             * @description the operator who signed for it
             */
            made_by: string;
            /**
             * Mine
             * @description what it asks for counts as asked for by that operator
             */
            mine: boolean;
            /** Sequence */
            sequence: number;
        };
        /** TokenLimits */
        TokenLimits: {
            /**
             * Tools
             * @description names, or how they begin with `*`; none for every tool
             */
            tools: string[];
            /**
             * Tier
             * @description the highest tier of a call
             */
            tier: number;
            /**
             * Paths
             * @description globs; none where it is for every path
             */
            paths: string[];
            /**
             * Routes
             * @description `GET /api/status`; none for what its role may use
             */
            routes: string[];
        };
        /** TokenShown */
        TokenShown: {
            /** Id */
            id: string;
            /** Name */
            name: string;
            role: components["schemas"]["Role"];
            /** Created At */
            created_at: string;
            /** Expires At */
            expires_at: string;
            /**
             * Ended
             * @description when it was revoked, or empty
             */
            ended: string;
            limits: components["schemas"]["TokenLimits"];
            /**
             * Made By
             * @description the operator who signed for it
             */
            made_by: string;
            /**
             * Mine
             * @description what it asks for counts as asked for by that operator
             */
            mine: boolean;
        };
        /** ToolShown */
        ToolShown: {
            /** Name */
            name: string;
            /** Tier */
            tier: number;
            /** Title */
            title: string;
            /** Description */
            description: string;
            /** Available */
            available: boolean;
            /** Input Schema */
            input_schema: {
                [key: string]: unknown;
            };
            /** Output Schema */
            output_schema: {
                [key: string]: unknown;
            };
        };
        /** UnsettledCall */
        UnsettledCall: {
            /** Call */
            call: string;
            /** Since */
            since: string;
            /** Model */
            model: string;
            /** Tokens */
            tokens: number;
            /** Money */
            money: number;
            /**
             * Under Way
             * @description false: it was cut off, and what it took is not known
             */
            under_way: boolean;
        };
        /** Verified */
        Verified: {
            /** Ok */
            ok: boolean;
            /** Records */
            records: number;
            /** Head */
            head: string;
            /** Problems */
            problems: components["schemas"]["ProblemFound"][];
            /** Checked At */
            checked_at: string;
        };
        /**
         * WitnessShown
         * @description Who keeps checkpoints outside the data root, and what it says about the chain.
         */
        WitnessShown: {
            /** Address */
            address: string;
            /** State */
            state: string;
            /**
             * Sequence
             * @description the newest record that it vouches for, or denies
             */
            sequence: number;
            /** Trouble */
            trouble: string;
        } & {
            [key: string]: unknown;
        };
        /**
         * WorkerShown
         * @description A worker of the chain: what it can do, how it is, and what it does now.
         */
        WorkerShown: {
            /** Id */
            id: string;
            /** Name */
            name: string;
            /** Instance */
            instance: string;
            /** Kinds */
            kinds: string[];
            /** Labels */
            labels: {
                [key: string]: string;
            };
            /**
             * Jobs
             * @description how many it does at once
             */
            jobs: number;
            /**
             * State
             * @description ready, unfit, draining, or away
             */
            state: string;
            /**
             * Problems
             * @description why it takes no jobs, by its preflight
             */
            problems: string[];
            /** Current Jobs */
            current_jobs: string[];
            /** Version */
            version: string;
            /** Epoch */
            epoch: number;
            /** Since */
            since: string;
        };
        /** WorkersShown */
        WorkersShown: {
            /** Items */
            items: components["schemas"]["WorkerShown"][];
        };
        /**
         * Problem
         * @description What went wrong. Further members depend on the code.
         */
        Problem: {
            /** Title */
            title: string;
            /** Status */
            status: number;
            /**
             * Code
             * @description a stable reason; all of them are in the reference of errors
             */
            code: string;
            /** Detail */
            detail: string;
            /**
             * Next Step
             * @description what to do about it
             */
            next_step: string;
        } & {
            [key: string]: unknown;
        };
    };
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    make_login_link_api_login_post: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["LoginLink"];
                };
            };
            /** @description a person has to decide first (`code` is `needs_approval`) */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description refused, not found, or failed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    show_session_api_session_get: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Session"];
                };
            };
            /** @description a person has to decide first (`code` is `needs_approval`) */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description refused, not found, or failed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    open_session_api_session_post: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Body_open_session_api_session_post"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Opened"];
                };
            };
            /** @description a person has to decide first (`code` is `needs_approval`) */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description refused, not found, or failed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    close_session_api_session_delete: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Session"];
                };
            };
            /** @description a person has to decide first (`code` is `needs_approval`) */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description refused, not found, or failed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    list_tokens_api_tokens_get: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Page_TokenShown_"];
                };
            };
            /** @description a person has to decide first (`code` is `needs_approval`) */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description refused, not found, or failed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    create_token_api_tokens_post: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Body_create_token_api_tokens_post"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TokenCreated"];
                };
            };
            /** @description a person has to decide first (`code` is `needs_approval`) */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description refused, not found, or failed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    revoke_token_api_tokens__identifier__revoke_post: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                identifier: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TokenShown"];
                };
            };
            /** @description a person has to decide first (`code` is `needs_approval`) */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description refused, not found, or failed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    list_passkeys_api_passkeys_get: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Page_PasskeyShown_"];
                };
            };
            /** @description a person has to decide first (`code` is `needs_approval`) */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description refused, not found, or failed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    enroll_passkey_api_passkeys_post: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Body_enroll_passkey_api_passkeys_post"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PasskeyEnrolled"];
                };
            };
            /** @description a person has to decide first (`code` is `needs_approval`) */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description refused, not found, or failed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    revoke_passkey_api_passkeys__identifier__revoke_post: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                identifier: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PasskeyShown"];
                };
            };
            /** @description a person has to decide first (`code` is `needs_approval`) */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description refused, not found, or failed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    start_enrolment_api_passkeys_enrolments_post: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EnrolmentLink"];
                };
            };
            /** @description a person has to decide first (`code` is `needs_approval`) */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description refused, not found, or failed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    show_candidate_api_passkeys_enrolments_candidate_post: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Body_show_candidate_api_passkeys_enrolments_candidate_post"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Candidate"];
                };
            };
            /** @description a person has to decide first (`code` is `needs_approval`) */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description refused, not found, or failed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    creation_options_api_passkeys_enrolments_options_post: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Body_creation_options_api_passkeys_enrolments_options_post"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CreationOptions"];
                };
            };
            /** @description a person has to decide first (`code` is `needs_approval`) */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description refused, not found, or failed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    keep_made_passkey_api_passkeys_enrolments_made_post: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Body_keep_made_passkey_api_passkeys_enrolments_made_post"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PasskeyMade"];
                };
            };
            /** @description a person has to decide first (`code` is `needs_approval`) */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description refused, not found, or failed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    show_outcome_api_passkeys_enrolments_outcome_post: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Body_show_outcome_api_passkeys_enrolments_outcome_post"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EnrolmentOutcome"];
                };
            };
            /** @description a person has to decide first (`code` is `needs_approval`) */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description refused, not found, or failed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    open_session_after_enrolment_api_passkeys_enrolments_session_post: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Body_open_session_after_enrolment_api_passkeys_enrolments_session_post"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Opened"];
                };
            };
            /** @description a person has to decide first (`code` is `needs_approval`) */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description refused, not found, or failed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    login_challenge_api_session_challenge_post: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RequestOptions"];
                };
            };
            /** @description a person has to decide first (`code` is `needs_approval`) */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description refused, not found, or failed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    open_session_with_passkey_api_session_passkey_post: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PasskeyLogin"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Opened"];
                };
            };
            /** @description a person has to decide first (`code` is `needs_approval`) */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description refused, not found, or failed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    draft_statement_api_statements_post: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Body_draft_statement_api_statements_post"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StatementDrafted"];
                };
            };
            /** @description a person has to decide first (`code` is `needs_approval`) */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description refused, not found, or failed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    list_devices_api_devices_get: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DevicesShown"];
                };
            };
            /** @description a person has to decide first (`code` is `needs_approval`) */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description refused, not found, or failed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    subscribe_device_api_devices_post: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Subscription"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeviceShown"];
                };
            };
            /** @description a person has to decide first (`code` is `needs_approval`) */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description refused, not found, or failed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    unsubscribe_device_api_devices__identifier__delete: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                identifier: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeviceShown"];
                };
            };
            /** @description a person has to decide first (`code` is `needs_approval`) */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description refused, not found, or failed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    healthz_healthz_get: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Health"];
                };
            };
            /** @description a person has to decide first (`code` is `needs_approval`) */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description refused, not found, or failed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    show_metrics_metrics_get: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/plain": string;
                };
            };
            /** @description a person has to decide first (`code` is `needs_approval`) */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description refused, not found, or failed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    status_api_status_get: {
        parameters: {
            query?: never;
            header?: {
                "Astra-Off"?: string;
                "Astra-Asked-On"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Status"];
                };
            };
            /** @description a person has to decide first (`code` is `needs_approval`) */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description refused, not found, or failed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    list_budgets_api_budgets_get: {
        parameters: {
            query?: {
                days?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Page_BudgetShown_"];
                };
            };
            /** @description a person has to decide first (`code` is `needs_approval`) */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description refused, not found, or failed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    down_api_down_post: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["Body_down_api_down_post"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Leaving"];
                };
            };
            /** @description a person has to decide first (`code` is `needs_approval`) */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description refused, not found, or failed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    count_days_api_metrics_get: {
        parameters: {
            query?: {
                /** @description whole days in UTC, with today */
                days?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Numbers"];
                };
            };
            /** @description a person has to decide first (`code` is `needs_approval`) */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description refused, not found, or failed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    list_counted_api_metrics__name__get: {
        parameters: {
            query?: {
                /** @description a day in UTC, like 2026-03-29 */
                since?: string | null;
                /** @description a day in UTC, like 2026-03-29 */
                until?: string | null;
                limit?: number;
                /** @description the `next` of the page before */
                cursor?: number | null;
            };
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Page_RecordShown_"];
                };
            };
            /** @description a person has to decide first (`code` is `needs_approval`) */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description refused, not found, or failed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    show_spend_api_spend_get: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SpendShown"];
                };
            };
            /** @description a person has to decide first (`code` is `needs_approval`) */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description refused, not found, or failed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    show_stop_api_stop_get: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StopShown"];
                };
            };
            /** @description a person has to decide first (`code` is `needs_approval`) */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description refused, not found, or failed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    stop_all_api_stop_post: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["Body_stop_all_api_stop_post"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Stopped"];
                };
            };
            /** @description a person has to decide first (`code` is `needs_approval`) */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description refused, not found, or failed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    record_stop_api_stop_record_post: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Recorded"];
                };
            };
            /** @description a person has to decide first (`code` is `needs_approval`) */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description refused, not found, or failed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    show_machines_api_machines_get: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MachinesShown"];
                };
            };
            /** @description a person has to decide first (`code` is `needs_approval`) */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description refused, not found, or failed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    forget_machine_api_machines__identifier__delete: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                identifier: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MachineForgotten"];
                };
            };
            /** @description a person has to decide first (`code` is `needs_approval`) */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description refused, not found, or failed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    start_again_api_start_post: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Body_start_again_api_start_post"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Accepted"];
                };
            };
            /** @description a person has to decide first (`code` is `needs_approval`) */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description refused, not found, or failed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    show_workers_api_workers_get: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WorkersShown"];
                };
            };
            /** @description a person has to decide first (`code` is `needs_approval`) */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description refused, not found, or failed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    show_restore_api_restore_get: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RestoreShown"];
                };
            };
            /** @description a person has to decide first (`code` is `needs_approval`) */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description refused, not found, or failed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    sign_restore_api_restore_post: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Body_sign_restore_api_restore_post"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Accepted"];
                };
            };
            /** @description a person has to decide first (`code` is `needs_approval`) */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description refused, not found, or failed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    show_sandbox_api_sandbox_get: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SandboxShown"];
                };
            };
            /** @description a person has to decide first (`code` is `needs_approval`) */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description refused, not found, or failed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    allow_off_api_sandbox_off_unsafe_post: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Body_allow_off_api_sandbox_off_unsafe_post"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SandboxShown"];
                };
            };
            /** @description a person has to decide first (`code` is `needs_approval`) */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description refused, not found, or failed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    turn_on_api_sandbox_on_post: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SandboxShown"];
                };
            };
            /** @description a person has to decide first (`code` is `needs_approval`) */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description refused, not found, or failed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    show_clock_api_clock_get: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ClockShown"];
                };
            };
            /** @description a person has to decide first (`code` is `needs_approval`) */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description refused, not found, or failed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    accept_clock_api_clock_accept_post: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Body_accept_clock_api_clock_accept_post"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ClockAccepted"];
                };
            };
            /** @description a person has to decide first (`code` is `needs_approval`) */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description refused, not found, or failed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    plan_archive_api_ledger_archive_plan_post: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Body_plan_archive_api_ledger_archive_plan_post"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ArchivePlanned"];
                };
            };
            /** @description a person has to decide first (`code` is `needs_approval`) */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description refused, not found, or failed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    move_to_archive_api_ledger_archive_post: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Body_move_to_archive_api_ledger_archive_post"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ArchiveMoved"];
                };
            };
            /** @description a person has to decide first (`code` is `needs_approval`) */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description refused, not found, or failed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    list_flags_api_flags_get: {
        parameters: {
            query?: never;
            header?: {
                "Astra-Off"?: string;
                "Astra-Asked-On"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Page_FlagShown_"];
                };
            };
            /** @description a person has to decide first (`code` is `needs_approval`) */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description refused, not found, or failed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    set_flag_api_flags_post: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Body_set_flag_api_flags_post"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FlagSet"];
                };
            };
            /** @description a person has to decide first (`code` is `needs_approval`) */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description refused, not found, or failed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    show_configuration_api_config_get: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ConfigurationShown"];
                };
            };
            /** @description a person has to decide first (`code` is `needs_approval`) */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description refused, not found, or failed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    sign_configuration_api_config_post: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Body_sign_configuration_api_config_post"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ConfigurationSigned"];
                };
            };
            /** @description a person has to decide first (`code` is `needs_approval`) */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description refused, not found, or failed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    check_configuration_api_config_check_post: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ConfigurationChecked"];
                };
            };
            /** @description a person has to decide first (`code` is `needs_approval`) */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description refused, not found, or failed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    show_operator_api_operator_get: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OperatorShown"];
                };
            };
            /** @description a person has to decide first (`code` is `needs_approval`) */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description refused, not found, or failed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    rotate_operator_api_operator_post: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Body_rotate_operator_api_operator_post"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OperatorRotated"];
                };
            };
            /** @description a person has to decide first (`code` is `needs_approval`) */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description refused, not found, or failed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    list_operators_api_operators_get: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OperatorsShown"];
                };
            };
            /** @description a person has to decide first (`code` is `needs_approval`) */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description refused, not found, or failed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    change_operators_api_operators_post: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Body_change_operators_api_operators_post"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Accepted"];
                };
            };
            /** @description a person has to decide first (`code` is `needs_approval`) */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description refused, not found, or failed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    list_records_api_ledger_get: {
        parameters: {
            query?: {
                after?: number;
                limit?: number;
                last?: number;
                type?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Page_RecordShown_"];
                };
            };
            /** @description a person has to decide first (`code` is `needs_approval`) */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description refused, not found, or failed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    head_api_ledger_head_get: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HeadShown"];
                };
            };
            /** @description a person has to decide first (`code` is `needs_approval`) */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description refused, not found, or failed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    story_api_ledger_story__identifier__get: {
        parameters: {
            query?: {
                limit?: number;
                /** @description the `next` of the page before */
                cursor?: number | null;
            };
            header?: never;
            path: {
                identifier: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StoryPage"];
                };
            };
            /** @description a person has to decide first (`code` is `needs_approval`) */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description refused, not found, or failed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    rebuild_api_ledger_rebuild_post: {
        parameters: {
            query?: {
                check?: boolean;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Rebuilt"];
                };
            };
            /** @description a person has to decide first (`code` is `needs_approval`) */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description refused, not found, or failed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    follow_events_api_events_get: {
        parameters: {
            query?: {
                after?: number | null;
            };
            header?: {
                "last-event-id"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description server-sent events, one a record: `id` is its sequence, `event` its type, `data` the record itself */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": string;
                };
            };
            /** @description a person has to decide first (`code` is `needs_approval`) */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description refused, not found, or failed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    verify_ledger_api_ledger_verify_post: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Verified"];
                };
            };
            /** @description a person has to decide first (`code` is `needs_approval`) */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description refused, not found, or failed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    list_tools_api_tools_get: {
        parameters: {
            query?: never;
            header?: {
                "Astra-Off"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Page_ToolShown_"];
                };
            };
            /** @description a person has to decide first (`code` is `needs_approval`) */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description refused, not found, or failed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    call_tool_api_tools__name__post: {
        parameters: {
            query?: never;
            header?: {
                "Astra-Off"?: string;
            };
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    [key: string]: unknown;
                } | null;
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        [key: string]: unknown;
                    };
                };
            };
            /** @description a person has to decide first (`code` is `needs_approval`) */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description refused, not found, or failed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    list_approvals_api_approvals_get: {
        parameters: {
            query?: {
                state?: "pending" | "approved" | "rejected" | "expired" | "used" | "stale" | "all";
                limit?: number;
                /** @description the `next` of the page before */
                cursor?: number | null;
                /** @description the newest first */
                newest?: boolean;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Page_ApprovalShown_"];
                };
            };
            /** @description a person has to decide first (`code` is `needs_approval`) */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description refused, not found, or failed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    show_approval_api_approvals__identifier__get: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                identifier: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ApprovalDetails"];
                };
            };
            /** @description a person has to decide first (`code` is `needs_approval`) */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description refused, not found, or failed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    check_approval_api_approvals__identifier__check_post: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                identifier: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Body_check_approval_api_approvals__identifier__check_post"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ApprovalShown"];
                };
            };
            /** @description a person has to decide first (`code` is `needs_approval`) */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description refused, not found, or failed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    approve_api_approvals__identifier__approve_post: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                identifier: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Body_approve_api_approvals__identifier__approve_post"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ApprovalDecided"];
                };
            };
            /** @description a person has to decide first (`code` is `needs_approval`) */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description refused, not found, or failed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    reject_api_approvals__identifier__reject_post: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                identifier: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Body_reject_api_approvals__identifier__reject_post"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ApprovalDecided"];
                };
            };
            /** @description a person has to decide first (`code` is `needs_approval`) */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description refused, not found, or failed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    list_inbox_api_inbox_get: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Page_InboxItemShown_"];
                };
            };
            /** @description a person has to decide first (`code` is `needs_approval`) */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description refused, not found, or failed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    list_permissions_api_permissions_get: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Page_PermissionShown_"];
                };
            };
            /** @description a person has to decide first (`code` is `needs_approval`) */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description refused, not found, or failed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    add_permission_api_permissions_post: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Body_add_permission_api_permissions_post"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PermissionChanged"];
                };
            };
            /** @description a person has to decide first (`code` is `needs_approval`) */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description refused, not found, or failed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    spell_permission_api_permissions_content_get: {
        parameters: {
            query: {
                tool: string;
                host: string;
                until: string;
                uses: number;
                method?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PermissionContent"];
                };
            };
            /** @description a person has to decide first (`code` is `needs_approval`) */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description refused, not found, or failed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    remove_permission_api_permissions__identifier__delete: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                identifier: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PermissionChanged"];
                };
            };
            /** @description a person has to decide first (`code` is `needs_approval`) */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description refused, not found, or failed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    list_merge_permissions_api_merge_permissions_get: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Page_MergePermissionShown_"];
                };
            };
            /** @description a person has to decide first (`code` is `needs_approval`) */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description refused, not found, or failed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    add_merge_permission_api_merge_permissions_post: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Body_add_merge_permission_api_merge_permissions_post"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PermissionChanged"];
                };
            };
            /** @description a person has to decide first (`code` is `needs_approval`) */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description refused, not found, or failed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    spell_merge_permission_api_merge_permissions_content_post: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["MergeScope"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MergePermissionContent"];
                };
            };
            /** @description a person has to decide first (`code` is `needs_approval`) */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description refused, not found, or failed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    remove_merge_permission_api_merge_permissions__identifier__delete: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                identifier: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PermissionChanged"];
                };
            };
            /** @description a person has to decide first (`code` is `needs_approval`) */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description refused, not found, or failed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    list_schedules_api_schedules_get: {
        parameters: {
            query?: {
                state?: string | null;
                tier?: number | null;
                tool?: string | null;
                text?: string | null;
                cursor?: string | null;
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Page_ScheduleShown_"];
                };
            };
            /** @description a person has to decide first (`code` is `needs_approval`) */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description refused, not found, or failed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    create_schedule_api_schedules_post: {
        parameters: {
            query?: never;
            header?: {
                "Astra-Off"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /**
                     * Name
                     * @description what to call it
                     */
                    name: string;
                    /**
                     * Cron Expression
                     * @description cron: five fields, or @hourly, @daily, …
                     */
                    cron_expression: string;
                    /**
                     * Timezone
                     * @description IANA name
                     * @default UTC
                     */
                    timezone?: string;
                    /**
                     * Target Tool
                     * @description the tool to run
                     */
                    target_tool: string;
                    /**
                     * Payload
                     * @description its arguments
                     */
                    payload?: {
                        [key: string]: unknown;
                    };
                    /**
                     * Safety Tier
                     * @description at least the tool's own
                     */
                    safety_tier?: number | null;
                    /**
                     * Per Day Budget
                     * @description firings a UTC day
                     * @default 4
                     */
                    per_day_budget?: number;
                    /**
                     * @description while the one before runs
                     * @default skip
                     */
                    overlap?: components["schemas"]["Overlap"];
                    /**
                     * Catch Up Seconds
                     * @description how late a missed firing may run
                     * @default 3600
                     */
                    catch_up_seconds?: number;
                    /**
                     * Attempts
                     * @description tries in all
                     * @default 1
                     */
                    attempts?: number;
                    /**
                     * Backoff Seconds
                     * @description pause before the second try
                     * @default 60
                     */
                    backoff_seconds?: number;
                    /**
                     * Jitter Seconds
                     * @description up to so much more
                     * @default 0
                     */
                    jitter_seconds?: number;
                    /**
                     * After
                     * @description schedules to succeed first
                     */
                    after?: string[];
                    /**
                     * Slow After
                     * @description slow down after so many failures
                     * @default 0
                     */
                    slow_after?: number;
                    /**
                     * Slow Below
                     * @description or below this success rate, in %
                     * @default 0
                     */
                    slow_below?: number;
                    /**
                     * Slowest
                     * @description then only every n-th firing
                     * @default 1
                     */
                    slowest?: number;
                };
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ScheduleCreated"];
                };
            };
            /** @description a person has to decide first (`code` is `needs_approval`) */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description refused, not found, or failed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    explain_api_schedules_explain_get: {
        parameters: {
            query: {
                cron_expression: string;
                timezone?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Explained"];
                };
            };
            /** @description a person has to decide first (`code` is `needs_approval`) */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description refused, not found, or failed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    show_schedule_api_schedules__identifier__get: {
        parameters: {
            query?: {
                start?: string | null;
            };
            header?: never;
            path: {
                identifier: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ScheduleShown"];
                };
            };
            /** @description a person has to decide first (`code` is `needs_approval`) */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description refused, not found, or failed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    modify_schedule_api_schedules__identifier__post: {
        parameters: {
            query?: never;
            header?: {
                "Astra-Off"?: string;
            };
            path: {
                identifier: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /**
                     * Seen
                     * @description `etag` you saw; refused if it changed
                     */
                    seen?: string | null;
                    /**
                     * Name
                     * @description as create
                     */
                    name?: string | null;
                    /**
                     * Cron Expression
                     * @description as create
                     */
                    cron_expression?: string | null;
                    /**
                     * Timezone
                     * @description as create
                     */
                    timezone?: string | null;
                    /**
                     * Target Tool
                     * @description as create
                     */
                    target_tool?: string | null;
                    /**
                     * Payload
                     * @description as create
                     */
                    payload?: {
                        [key: string]: unknown;
                    } | null;
                    /**
                     * Safety Tier
                     * @description as create
                     */
                    safety_tier?: number | null;
                    /**
                     * Per Day Budget
                     * @description as create
                     */
                    per_day_budget?: number | null;
                    /** @description as create */
                    overlap?: components["schemas"]["Overlap"] | null;
                    /**
                     * Catch Up Seconds
                     * @description as create
                     */
                    catch_up_seconds?: number | null;
                    /**
                     * Attempts
                     * @description as create
                     */
                    attempts?: number | null;
                    /**
                     * Backoff Seconds
                     * @description as create
                     */
                    backoff_seconds?: number | null;
                    /**
                     * Jitter Seconds
                     * @description as create
                     */
                    jitter_seconds?: number | null;
                    /**
                     * After
                     * @description as create
                     */
                    after?: string[] | null;
                    /**
                     * Slow After
                     * @description as create
                     */
                    slow_after?: number | null;
                    /**
                     * Slow Below
                     * @description as create
                     */
                    slow_below?: number | null;
                    /**
                     * Slowest
                     * @description as create
                     */
                    slowest?: number | null;
                };
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ScheduleShown"];
                };
            };
            /** @description a person has to decide first (`code` is `needs_approval`) */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description refused, not found, or failed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    schedule_history_api_schedules__identifier__history_get: {
        parameters: {
            query?: {
                cursor?: number | null;
                limit?: number;
            };
            header?: never;
            path: {
                identifier: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Page_FiringShown_"];
                };
            };
            /** @description a person has to decide first (`code` is `needs_approval`) */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description refused, not found, or failed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    pause_schedule_api_schedules__identifier__pause_post: {
        parameters: {
            query?: never;
            header?: {
                "Astra-Off"?: string;
            };
            path: {
                identifier: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ScheduleShown"];
                };
            };
            /** @description a person has to decide first (`code` is `needs_approval`) */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description refused, not found, or failed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    resume_schedule_api_schedules__identifier__resume_post: {
        parameters: {
            query?: never;
            header?: {
                "Astra-Off"?: string;
            };
            path: {
                identifier: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["Body_resume_schedule_api_schedules__identifier__resume_post"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ScheduleShown"];
                };
            };
            /** @description a person has to decide first (`code` is `needs_approval`) */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description refused, not found, or failed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    delete_schedule_api_schedules__identifier__delete_post: {
        parameters: {
            query?: never;
            header?: {
                "Astra-Off"?: string;
            };
            path: {
                identifier: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ScheduleShown"];
                };
            };
            /** @description a person has to decide first (`code` is `needs_approval`) */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description refused, not found, or failed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    run_schedule_api_schedules__identifier__run_post: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                identifier: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["Body_run_schedule_api_schedules__identifier__run_post"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FiringShown"] | components["schemas"]["Page_FiringShown_"];
                };
            };
            /** @description a person has to decide first (`code` is `needs_approval`) */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description refused, not found, or failed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    request_approval_api_schedules__identifier__approval_post: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                identifier: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ApprovalDetails"];
                };
            };
            /** @description a person has to decide first (`code` is `needs_approval`) */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description refused, not found, or failed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    list_desires_api_desires_get: {
        parameters: {
            query?: {
                limit?: number | null;
                min_strength?: number | null;
                tag?: string | null;
                search?: string | null;
                faded?: boolean | null;
                cursor?: string | null;
            };
            header?: {
                "Astra-Off"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Page_DesireShown_"];
                };
            };
            /** @description a person has to decide first (`code` is `needs_approval`) */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description refused, not found, or failed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    record_desire_api_desires_post: {
        parameters: {
            query?: never;
            header?: {
                "Astra-Off"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /**
                     * Text
                     * @description the wish
                     */
                    text: string;
                    /**
                     * Strength
                     * @description it fades from here
                     * @default 1
                     */
                    strength?: number;
                    /**
                     * Tags
                     * @description to find it by
                     * @default []
                     */
                    tags?: string[];
                    /**
                     * Context
                     * @description where it came from
                     */
                    context?: string | {
                        [key: string]: unknown;
                    } | null;
                };
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DesireShown"];
                };
            };
            /** @description a person has to decide first (`code` is `needs_approval`) */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description refused, not found, or failed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    suggest_promotions_api_desires_suggestions_get: {
        parameters: {
            query?: {
                limit?: number | null;
            };
            header?: {
                "Astra-Off"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Suggestions"];
                };
            };
            /** @description a person has to decide first (`code` is `needs_approval`) */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description refused, not found, or failed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    show_desire_api_desires__identifier__get: {
        parameters: {
            query?: never;
            header?: {
                "Astra-Off"?: string;
            };
            path: {
                identifier: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DesireShown"];
                };
            };
            /** @description a person has to decide first (`code` is `needs_approval`) */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description refused, not found, or failed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    read_awareness_api_awareness_get: {
        parameters: {
            query?: {
                kind?: string | null;
                limit?: number | null;
                cursor?: string | null;
            };
            header?: {
                "Astra-Off"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Feed"];
                };
            };
            /** @description a person has to decide first (`code` is `needs_approval`) */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description refused, not found, or failed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    prune_desires_api_desires_prune_post: {
        parameters: {
            query?: never;
            header?: {
                "Astra-Off"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Pruned"];
                };
            };
            /** @description a person has to decide first (`code` is `needs_approval`) */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description refused, not found, or failed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    reinforce_desire_api_desires__identifier__reinforce_post: {
        parameters: {
            query?: never;
            header?: {
                "Astra-Off"?: string;
            };
            path: {
                identifier: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["Body_reinforce_desire_api_desires__identifier__reinforce_post"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DesireShown"];
                };
            };
            /** @description a person has to decide first (`code` is `needs_approval`) */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description refused, not found, or failed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    ask_for_promotion_api_desires__identifier__promote_post: {
        parameters: {
            query?: never;
            header?: {
                "Astra-Off"?: string;
            };
            path: {
                identifier: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["Body_ask_for_promotion_api_desires__identifier__promote_post"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Never"];
                };
            };
            /** @description a person has to decide first (`code` is `needs_approval`) */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description refused, not found, or failed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    ask_for_adoption_api_desires__identifier__approval_post: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                identifier: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ApprovalDetails"];
                };
            };
            /** @description a person has to decide first (`code` is `needs_approval`) */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description refused, not found, or failed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    list_goals_api_goals_get: {
        parameters: {
            query?: {
                limit?: number;
                after?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Page_GoalAnswer_"];
                };
            };
            /** @description a person has to decide first (`code` is `needs_approval`) */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description refused, not found, or failed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    create_goal_api_goals_post: {
        parameters: {
            query?: never;
            header?: {
                "Astra-Off"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /**
                     * Text
                     * @description what is to be achieved
                     */
                    text: string;
                    /**
                     * Category
                     * @description its origin
                     * @default user_requested
                     * @enum {string}
                     */
                    category?: "user_requested" | "introspection" | "exploration" | "maintenance";
                    /**
                     * Task
                     * @description a task of a method: implement_feature, …
                     * @default achieve
                     */
                    task?: string;
                    /**
                     * Criteria
                     * @description each a command, file, outcome (kept) or metric (NAME below N)
                     * @default []
                     */
                    criteria?: {
                        [key: string]: string;
                    }[];
                    /**
                     * Deadline
                     * @description ISO 8601, with offset
                     */
                    deadline?: string | null;
                    /**
                     * Budget
                     * @description model_calls, tokens, minutes, money
                     */
                    budget?: {
                        [key: string]: number | string;
                    } | null;
                    /**
                     * Priority
                     * @description higher first
                     * @default 0
                     */
                    priority?: number;
                    /**
                     * Parent
                     * @description goal_…
                     */
                    parent?: string | null;
                    /**
                     * Authority
                     * @description a signature over the content, where it is the operator's own
                     */
                    authority?: {
                        [key: string]: unknown;
                    } | null;
                };
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GoalDetails"];
                };
            };
            /** @description a person has to decide first (`code` is `needs_approval`) */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description refused, not found, or failed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    show_goal_api_goals__identifier__get: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                identifier: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GoalDetails"];
                };
            };
            /** @description a person has to decide first (`code` is `needs_approval`) */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description refused, not found, or failed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    show_graph_api_goals__identifier__graph_get: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                identifier: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GoalGraph"];
                };
            };
            /** @description a person has to decide first (`code` is `needs_approval`) */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description refused, not found, or failed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    spell_goal_api_goals_content_post: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /**
                     * Text
                     * @description what is to be achieved
                     */
                    text: string;
                    /**
                     * Category
                     * @description its origin
                     * @default user_requested
                     * @enum {string}
                     */
                    category?: "user_requested" | "introspection" | "exploration" | "maintenance";
                    /**
                     * Task
                     * @description a task of a method: implement_feature, …
                     * @default achieve
                     */
                    task?: string;
                    /**
                     * Criteria
                     * @description each a command, file, outcome (kept) or metric (NAME below N)
                     * @default []
                     */
                    criteria?: {
                        [key: string]: string;
                    }[];
                    /**
                     * Deadline
                     * @description ISO 8601, with offset
                     */
                    deadline?: string | null;
                    /**
                     * Budget
                     * @description model_calls, tokens, minutes, money
                     */
                    budget?: {
                        [key: string]: number | string;
                    } | null;
                    /**
                     * Priority
                     * @description higher first
                     * @default 0
                     */
                    priority?: number;
                    /**
                     * Parent
                     * @description goal_…
                     */
                    parent?: string | null;
                };
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GoalContent"];
                };
            };
            /** @description a person has to decide first (`code` is `needs_approval`) */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description refused, not found, or failed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    ask_for_adoption_api_goals__identifier__approval_post: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                identifier: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ApprovalDetails"];
                };
            };
            /** @description a person has to decide first (`code` is `needs_approval`) */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description refused, not found, or failed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    run_goal_api_goals__identifier__run_post: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                identifier: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GoalDetails"];
                };
            };
            /** @description a person has to decide first (`code` is `needs_approval`) */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description refused, not found, or failed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    pause_goal_api_goals__identifier__pause_post: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                identifier: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GoalDetails"];
                };
            };
            /** @description a person has to decide first (`code` is `needs_approval`) */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description refused, not found, or failed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    close_goal_api_goals__identifier__close_post: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                identifier: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GoalDetails"];
                };
            };
            /** @description a person has to decide first (`code` is `needs_approval`) */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description refused, not found, or failed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    reopen_goal_api_goals__identifier__reopen_post: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                identifier: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GoalDetails"];
                };
            };
            /** @description a person has to decide first (`code` is `needs_approval`) */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description refused, not found, or failed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    retry_goal_api_goals__identifier__retry_post: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                identifier: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["Body_retry_goal_api_goals__identifier__retry_post"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GoalDetails"];
                };
            };
            /** @description a person has to decide first (`code` is `needs_approval`) */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description refused, not found, or failed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    abandon_goal_api_goals__identifier__abandon_post: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                identifier: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Body_abandon_goal_api_goals__identifier__abandon_post"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GoalDetails"];
                };
            };
            /** @description a person has to decide first (`code` is `needs_approval`) */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description refused, not found, or failed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    list_tasks_api_tasks_get: {
        parameters: {
            query?: {
                state?: string | null;
                outcome?: string | null;
                source?: string | null;
                trace?: string | null;
                schedule_id?: string | null;
                limit?: number;
                cursor?: string | null;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Page_TaskAnswer_"];
                };
            };
            /** @description a person has to decide first (`code` is `needs_approval`) */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description refused, not found, or failed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    show_task_api_tasks__identifier__get: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                identifier: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TaskAnswer"];
                };
            };
            /** @description a person has to decide first (`code` is `needs_approval`) */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description refused, not found, or failed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    list_research_api_research_get: {
        parameters: {
            query?: {
                limit?: number;
                /** @description the `next` of the page before */
                cursor?: number | null;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Page_ResearchBrief_"];
                };
            };
            /** @description a person has to decide first (`code` is `needs_approval`) */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description refused, not found, or failed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    ask_api_research_post: {
        parameters: {
            query?: never;
            header?: {
                "Astra-Off"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /**
                     * Question
                     * @description what to find out
                     */
                    question: string;
                    /**
                     * Max Tasks
                     * @description searches
                     * @default 8
                     */
                    max_tasks?: number;
                    /**
                     * Max Depth
                     * @description levels of follow-up questions
                     * @default 1
                     */
                    max_depth?: number;
                    /**
                     * Sources
                     * @description default: all
                     * @default []
                     */
                    sources?: ("source" | "documents" | "ledger" | "notes" | "web")[];
                    /**
                     * Urls
                     * @description pages to read, of granted hosts only
                     * @default []
                     */
                    urls?: string[];
                };
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ResearchShown"];
                };
            };
            /** @description a person has to decide first (`code` is `needs_approval`) */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description refused, not found, or failed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    show_research_api_research__identifier__get: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                identifier: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ResearchShown"];
                };
            };
            /** @description a person has to decide first (`code` is `needs_approval`) */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description refused, not found, or failed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    query_beliefs_api_beliefs_get: {
        parameters: {
            query?: {
                limit?: number | null;
                proposed?: boolean | null;
                scope?: string | null;
                cursor?: string | null;
            };
            header?: {
                "Astra-Off"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Page_BeliefAnswer_"];
                };
            };
            /** @description a person has to decide first (`code` is `needs_approval`) */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description refused, not found, or failed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    propose_belief_api_beliefs_post: {
        parameters: {
            query?: never;
            header?: {
                "Astra-Off"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /**
                     * Statement
                     * @description what is so
                     */
                    statement: string;
                    /**
                     * Claim
                     * @description what is claimed
                     * @default
                     * @enum {string}
                     */
                    claim?: "rolled_back" | "passes_tests" | "flaky" | "works" | "fails" | "fails_at_night";
                    /**
                     * Scope Kind
                     * @description of what
                     * @default
                     * @enum {string}
                     */
                    scope_kind?: "path" | "test" | "method" | "tool" | "schedule" | "domain";
                    /**
                     * Scope
                     * @description which one
                     * @default
                     */
                    scope?: string;
                };
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BeliefDetails"];
                };
            };
            /** @description a person has to decide first (`code` is `needs_approval`) */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description refused, not found, or failed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    reflect_on_belief_api_beliefs__identifier__get: {
        parameters: {
            query?: never;
            header?: {
                "Astra-Off"?: string;
            };
            path: {
                identifier: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BeliefDetails"];
                };
            };
            /** @description a person has to decide first (`code` is `needs_approval`) */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description refused, not found, or failed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    deprecate_belief_api_beliefs__identifier__deprecate_post: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                identifier: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Body_deprecate_belief_api_beliefs__identifier__deprecate_post"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BeliefDetails"];
                };
            };
            /** @description a person has to decide first (`code` is `needs_approval`) */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description refused, not found, or failed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    list_changes_api_changes_get: {
        parameters: {
            query?: {
                state?: string | null;
                limit?: number;
                cursor?: string | null;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Page_ChangeBrief_"];
                };
            };
            /** @description a person has to decide first (`code` is `needs_approval`) */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description refused, not found, or failed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    propose_change_api_changes_post: {
        parameters: {
            query?: never;
            header?: {
                "Astra-Off"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /**
                     * Reason
                     * @description why the code should change
                     */
                    reason: string;
                    /**
                     * Edits
                     * @description one for each file
                     */
                    edits?: components["schemas"]["EditArguments"][];
                    /**
                     * Patch
                     * @description a unified diff
                     */
                    patch?: string | null;
                    /**
                     * Patch Base64
                     * @description a unified diff that is not UTF-8
                     */
                    patch_base64?: string | null;
                    /**
                     * From Branch
                     * @description a branch of your clone, instead of edits
                     * @default
                     */
                    from_branch?: string;
                    /**
                     * Goal
                     * @description the goal it serves (goal_…)
                     * @default
                     */
                    goal?: string;
                    /**
                     * Research
                     * @description the research it comes from: res_…
                     * @default
                     */
                    research?: string;
                    /**
                     * Supersedes
                     * @description the change this is a revision of (chg_…)
                     * @default
                     */
                    supersedes?: string;
                    /**
                     * Reverts
                     * @description a merged change to take back instead
                     * @default
                     */
                    reverts?: string;
                };
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ChangeProposed"];
                };
            };
            /** @description a person has to decide first (`code` is `needs_approval`) */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description refused, not found, or failed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    show_change_api_changes__identifier__get: {
        parameters: {
            query?: {
                wait?: number;
            };
            header?: never;
            path: {
                identifier: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ChangeShown"];
                };
            };
            /** @description a person has to decide first (`code` is `needs_approval`) */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description refused, not found, or failed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    show_diff_api_changes__identifier__diff_get: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                identifier: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DiffShown"];
                };
            };
            /** @description a person has to decide first (`code` is `needs_approval`) */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description refused, not found, or failed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    show_lines_api_changes__identifier__lines_get: {
        parameters: {
            query: {
                path: string;
                start: number;
                end: number;
                side?: "old" | "new";
            };
            header?: never;
            path: {
                identifier: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["LinesShown"];
                };
            };
            /** @description a person has to decide first (`code` is `needs_approval`) */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description refused, not found, or failed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    show_output_api_changes__identifier__output_get: {
        parameters: {
            query?: {
                after?: number;
            };
            header?: never;
            path: {
                identifier: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OutputShown"];
                };
            };
            /** @description a person has to decide first (`code` is `needs_approval`) */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description refused, not found, or failed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    show_evidence_api_changes__identifier__evidence_get: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                identifier: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FindingsAndEvidence"];
                };
            };
            /** @description a person has to decide first (`code` is `needs_approval`) */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description refused, not found, or failed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    test_change_api_changes__identifier__test_post: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                identifier: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ChangeShown"];
                };
            };
            /** @description a person has to decide first (`code` is `needs_approval`) */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description refused, not found, or failed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    comment_on_change_api_changes__identifier__comments_post: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                identifier: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CommentGiven"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ChangeShown"];
                };
            };
            /** @description a person has to decide first (`code` is `needs_approval`) */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description refused, not found, or failed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    request_approval_api_changes__identifier__approval_post: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                identifier: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["Body_request_approval_api_changes__identifier__approval_post"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ApprovalDetails"];
                };
            };
            /** @description a person has to decide first (`code` is `needs_approval`) */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description refused, not found, or failed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    approve_change_api_changes__identifier__approve_post: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                identifier: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Body_approve_change_api_changes__identifier__approve_post"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ChangeShown"];
                };
            };
            /** @description a person has to decide first (`code` is `needs_approval`) */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description refused, not found, or failed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    reject_change_api_changes__identifier__reject_post: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                identifier: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["RejectionGiven"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ChangeShown"];
                };
            };
            /** @description a person has to decide first (`code` is `needs_approval`) */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description refused, not found, or failed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    begin_dry_run_api_dry_runs_post: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    [key: string]: unknown;
                } | null;
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DryRunShown"];
                };
            };
            /** @description a person has to decide first (`code` is `needs_approval`) */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description refused, not found, or failed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    approve_dry_run_api_dry_runs__identifier__approve_post: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                identifier: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Body_approve_dry_run_api_dry_runs__identifier__approve_post"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DryRunShown"];
                };
            };
            /** @description a person has to decide first (`code` is `needs_approval`) */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description refused, not found, or failed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    show_decision_facts_api_changes__identifier__decision_get: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                identifier: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FactsShown"];
                };
            };
            /** @description a person has to decide first (`code` is `needs_approval`) */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description refused, not found, or failed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    show_live_difference_api_deployments_order_difference_get: {
        parameters: {
            query?: {
                change?: string | null;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["LiveDifferenceShown"];
                };
            };
            /** @description a person has to decide first (`code` is `needs_approval`) */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description refused, not found, or failed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    list_plans_api_agents_get: {
        parameters: {
            query?: {
                state?: string | null;
                limit?: number;
                cursor?: number | null;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Page_PlanBrief_"];
                };
            };
            /** @description a person has to decide first (`code` is `needs_approval`) */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description refused, not found, or failed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    draft_plan_api_agents_post: {
        parameters: {
            query?: never;
            header?: {
                "Astra-Off"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /**
                     * Description
                     * @description what to do, in words
                     * @default
                     */
                    description?: string;
                    /**
                     * Goal
                     * @description goal_…
                     * @default
                     */
                    goal?: string;
                    /**
                     * Plan
                     * @description goals, checkpoints, manifest, estimated_duration_minutes
                     */
                    plan?: {
                        [key: string]: unknown;
                    } | null;
                    /**
                     * Notification Channels
                     * @description names the operator gave to channels
                     * @default []
                     */
                    notification_channels?: string[];
                };
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PlanDrafted"];
                };
            };
            /** @description a person has to decide first (`code` is `needs_approval`) */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description refused, not found, or failed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    list_waiting_plans_api_agents_waiting_get: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Page_PlanBrief_"];
                };
            };
            /** @description a person has to decide first (`code` is `needs_approval`) */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description refused, not found, or failed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    show_plan_api_agents__identifier__get: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                identifier: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PlanShown"];
                };
            };
            /** @description a person has to decide first (`code` is `needs_approval`) */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description refused, not found, or failed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    answer_api_agents__identifier__answers_post: {
        parameters: {
            query?: never;
            header?: {
                "Astra-Off"?: string;
            };
            path: {
                identifier: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Body_answer_api_agents__identifier__answers_post"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PlanDrafted"];
                };
            };
            /** @description a person has to decide first (`code` is `needs_approval`) */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description refused, not found, or failed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    ask_for_approval_api_agents__identifier__approval_post: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                identifier: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ApprovalDetails"];
                };
            };
            /** @description a person has to decide first (`code` is `needs_approval`) */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description refused, not found, or failed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    approve_plan_api_agents__identifier__approve_post: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                identifier: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Body_approve_plan_api_agents__identifier__approve_post"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PlanShown"];
                };
            };
            /** @description a person has to decide first (`code` is `needs_approval`) */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description refused, not found, or failed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    reject_plan_api_agents__identifier__reject_post: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                identifier: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Body_reject_plan_api_agents__identifier__reject_post"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PlanShown"];
                };
            };
            /** @description a person has to decide first (`code` is `needs_approval`) */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description refused, not found, or failed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    revise_plan_api_agents__identifier__revise_post: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                identifier: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Body_revise_plan_api_agents__identifier__revise_post"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PlanShown"];
                };
            };
            /** @description a person has to decide first (`code` is `needs_approval`) */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description refused, not found, or failed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    look_up_hosts_api_agents__identifier__hosts_post: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                identifier: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HostsLookedUp"];
                };
            };
            /** @description a person has to decide first (`code` is `needs_approval`) */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description refused, not found, or failed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    pause_plan_api_agents__identifier__pause_post: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                identifier: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["Body_pause_plan_api_agents__identifier__pause_post"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PlanShown"];
                };
            };
            /** @description a person has to decide first (`code` is `needs_approval`) */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description refused, not found, or failed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    abort_plan_api_agents__identifier__abort_post: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                identifier: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["Body_abort_plan_api_agents__identifier__abort_post"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PlanShown"];
                };
            };
            /** @description a person has to decide first (`code` is `needs_approval`) */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description refused, not found, or failed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    skip_action_api_agents__identifier__skip_post: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                identifier: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["Body_skip_action_api_agents__identifier__skip_post"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PlanShown"];
                };
            };
            /** @description a person has to decide first (`code` is `needs_approval`) */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description refused, not found, or failed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    wanted_decision_api_agents__identifier__decision_get: {
        parameters: {
            query: {
                action: string;
                once?: boolean;
                steps?: number;
                /** @description that was seen waiting */
                step?: number | null;
            };
            header?: never;
            path: {
                identifier: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DecisionWanted"];
                };
            };
            /** @description a person has to decide first (`code` is `needs_approval`) */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description refused, not found, or failed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    resume_plan_api_agents__identifier__resume_post: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                identifier: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Body_resume_plan_api_agents__identifier__resume_post"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PlanShown"];
                };
            };
            /** @description a person has to decide first (`code` is `needs_approval`) */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description refused, not found, or failed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    grant_more_api_agents__identifier__grant_post: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                identifier: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Body_grant_more_api_agents__identifier__grant_post"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PlanShown"];
                };
            };
            /** @description a person has to decide first (`code` is `needs_approval`) */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description refused, not found, or failed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    retry_step_api_agents__identifier__retry_post: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                identifier: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Body_retry_step_api_agents__identifier__retry_post"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PlanShown"];
                };
            };
            /** @description a person has to decide first (`code` is `needs_approval`) */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description refused, not found, or failed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    extend_budget_api_agents__identifier__extend_budget_post: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                identifier: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Body_extend_budget_api_agents__identifier__extend_budget_post"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PlanShown"];
                };
            };
            /** @description a person has to decide first (`code` is `needs_approval`) */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description refused, not found, or failed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    list_messages_api_agents__identifier__messages_get: {
        parameters: {
            query?: {
                limit?: number;
                /** @description the `next` of the page before */
                cursor?: number | null;
            };
            header?: never;
            path: {
                identifier: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Page_MessageShown_"];
                };
            };
            /** @description a person has to decide first (`code` is `needs_approval`) */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description refused, not found, or failed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    tell_plan_api_agents__identifier__messages_post: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                identifier: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Body_tell_plan_api_agents__identifier__messages_post"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PlanShown"];
                };
            };
            /** @description a person has to decide first (`code` is `needs_approval`) */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description refused, not found, or failed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    silence_plan_api_agents__identifier__silence_post: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                identifier: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["Body_silence_plan_api_agents__identifier__silence_post"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PlanShown"];
                };
            };
            /** @description a person has to decide first (`code` is `needs_approval`) */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description refused, not found, or failed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    list_grants_api_agent_global_grants_get: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GrantPage"];
                };
            };
            /** @description a person has to decide first (`code` is `needs_approval`) */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description refused, not found, or failed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    add_grant_api_agent_global_grants_post: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Body_add_grant_api_agent_global_grants_post"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GrantChanged"];
                };
            };
            /** @description a person has to decide first (`code` is `needs_approval`) */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description refused, not found, or failed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    remove_grant_api_agent_global_grants_delete: {
        parameters: {
            query: {
                kind: string;
                value: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GrantChanged"];
                };
            };
            /** @description a person has to decide first (`code` is `needs_approval`) */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description refused, not found, or failed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    spelled_grant_api_agent_global_grants_content_get: {
        parameters: {
            query: {
                kind: string;
                value: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GrantContent"];
                };
            };
            /** @description a person has to decide first (`code` is `needs_approval`) */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description refused, not found, or failed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    list_releases_api_releases_get: {
        parameters: {
            query?: {
                every?: boolean;
                limit?: number;
                /** @description the `next` of the page before */
                cursor?: string | null;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Page_ReleaseShown_"];
                };
            };
            /** @description a person has to decide first (`code` is `needs_approval`) */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description refused, not found, or failed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    list_deployments_api_deployments_get: {
        parameters: {
            query?: {
                limit?: number;
                /** @description the `next` of the page before */
                cursor?: string | null;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Page_DeploymentShown_"];
                };
            };
            /** @description a person has to decide first (`code` is `needs_approval`) */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description refused, not found, or failed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    deploy_api_deployments_post: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Body_deploy_api_deployments_post"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeploymentShown"];
                };
            };
            /** @description a person has to decide first (`code` is `needs_approval`) */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description refused, not found, or failed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    show_order_api_deployments_order_get: {
        parameters: {
            query?: {
                change?: string | null;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeployOrder"];
                };
            };
            /** @description a person has to decide first (`code` is `needs_approval`) */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description refused, not found, or failed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    show_deployment_api_deployments__identifier__get: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                identifier: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeploymentShown"];
                };
            };
            /** @description a person has to decide first (`code` is `needs_approval`) */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description refused, not found, or failed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    show_rollback_api_rollback_get: {
        parameters: {
            query?: {
                release?: string | null;
                keep_state?: boolean;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RollbackContent"];
                };
            };
            /** @description a person has to decide first (`code` is `needs_approval`) */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description refused, not found, or failed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    roll_back_api_rollback_post: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Body_roll_back_api_rollback_post"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeploymentShown"];
                };
            };
            /** @description a person has to decide first (`code` is `needs_approval`) */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description refused, not found, or failed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    show_fleet_api_fleet_get: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FleetShown"];
                };
            };
            /** @description a person has to decide first (`code` is `needs_approval`) */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description refused, not found, or failed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    show_sync_api_sync_get: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SyncShown"];
                };
            };
            /** @description a person has to decide first (`code` is `needs_approval`) */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description refused, not found, or failed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    fetch_upstream_api_sync_post: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SyncShown"];
                };
            };
            /** @description a person has to decide first (`code` is `needs_approval`) */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description refused, not found, or failed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    report_readiness_api_readiness_post: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Readiness"];
                };
            };
            /** @description a person has to decide first (`code` is `needs_approval`) */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description refused, not found, or failed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    show_matrix_content_api_readiness_matrix_content_post: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Matrix"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MatrixSigned"];
                };
            };
            /** @description a person has to decide first (`code` is `needs_approval`) */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description refused, not found, or failed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    record_matrix_api_readiness_matrix_post: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Body_record_matrix_api_readiness_matrix_post"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Accepted"];
                };
            };
            /** @description a person has to decide first (`code` is `needs_approval`) */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description refused, not found, or failed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    sign_readiness_off_api_readiness_sign_off_post: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Body_sign_readiness_off_api_readiness_sign_off_post"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Accepted"];
                };
            };
            /** @description a person has to decide first (`code` is `needs_approval`) */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description refused, not found, or failed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    list_servers_api_servers_get: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Page_ServerShown_"];
                };
            };
            /** @description a person has to decide first (`code` is `needs_approval`) */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description refused, not found, or failed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    show_server_api_servers__name__get: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ServerDetails"];
                };
            };
            /** @description a person has to decide first (`code` is `needs_approval`) */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description refused, not found, or failed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    look_at_server_api_servers__name__look_post: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ServerContent"];
                };
            };
            /** @description a person has to decide first (`code` is `needs_approval`) */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description refused, not found, or failed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    accept_tools_api_servers__name__accept_post: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Body_accept_tools_api_servers__name__accept_post"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ServerAccepted"];
                };
            };
            /** @description a person has to decide first (`code` is `needs_approval`) */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description refused, not found, or failed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    show_last_smoke_api_smoke_get: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["LastSmoke"];
                };
            };
            /** @description a person has to decide first (`code` is `needs_approval`) */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description refused, not found, or failed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    run_smoke_api_smoke_post: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SmokeReport"];
                };
            };
            /** @description a person has to decide first (`code` is `needs_approval`) */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description refused, not found, or failed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    list_environments_api_environments_get: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EnvironmentList"];
                };
            };
            /** @description a person has to decide first (`code` is `needs_approval`) */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description refused, not found, or failed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    remove_unused_environments_api_environments_delete: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EnvironmentList"];
                };
            };
            /** @description a person has to decide first (`code` is `needs_approval`) */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description refused, not found, or failed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    remove_environment_api_environments__name__delete: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EnvironmentShown"];
                };
            };
            /** @description a person has to decide first (`code` is `needs_approval`) */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description refused, not found, or failed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    list_alerts_api_alerts_get: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Alerts"];
                };
            };
            /** @description a person has to decide first (`code` is `needs_approval`) */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description refused, not found, or failed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    check_alerts_api_alerts_check_post: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Alerts"];
                };
            };
            /** @description a person has to decide first (`code` is `needs_approval`) */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description refused, not found, or failed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    silence_alert_api_alerts_silences_post: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Body_silence_alert_api_alerts_silences_post"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SilenceChanged"];
                };
            };
            /** @description a person has to decide first (`code` is `needs_approval`) */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description refused, not found, or failed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    end_silence_api_alerts_silences__name__delete: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SilenceChanged"];
                };
            };
            /** @description a person has to decide first (`code` is `needs_approval`) */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description refused, not found, or failed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    test_channels_api_notify_test_post: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["Body_test_channels_api_notify_test_post"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ChannelsTried"];
                };
            };
            /** @description a person has to decide first (`code` is `needs_approval`) */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description refused, not found, or failed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    make_receipt_api_ledger_receipts__identifier__get: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                identifier: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Receipt"];
                };
            };
            /** @description a person has to decide first (`code` is `needs_approval`) */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description refused, not found, or failed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    list_conversations_api_chat_get: {
        parameters: {
            query?: {
                limit?: number;
                /** @description the `next` of the page before */
                cursor?: number | null;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Conversations"];
                };
            };
            /** @description a person has to decide first (`code` is `needs_approval`) */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description refused, not found, or failed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    chat_api_chat_post: {
        parameters: {
            query?: never;
            header?: {
                accept?: string;
                "Astra-Off"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ChatAsked"];
            };
        };
        responses: {
            /** @description the whole answer; or, where `Accept` asks for it, server-sent events: `started`, then `text`, `call`, `result` and `suggestion` as they come, then `end` with the whole answer, or `problem` */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": string;
                    "application/json": components["schemas"]["ChatAnswered"];
                };
            };
            /** @description a person has to decide first (`code` is `needs_approval`) */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description refused, not found, or failed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    show_conversation_api_chat__identifier__get: {
        parameters: {
            query?: {
                limit?: number;
                /** @description the `next` of the page before */
                cursor?: number | null;
            };
            header?: never;
            path: {
                identifier: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ConversationDetails"];
                };
            };
            /** @description a person has to decide first (`code` is `needs_approval`) */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description refused, not found, or failed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    delete_api_chat__identifier__delete: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                identifier: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ConversationDeleted"];
                };
            };
            /** @description a person has to decide first (`code` is `needs_approval`) */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description refused, not found, or failed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    silence_api_chat__identifier__silence_post: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                identifier: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ConversationShown"];
                };
            };
            /** @description a person has to decide first (`code` is `needs_approval`) */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description refused, not found, or failed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    list_models_v1_models_get: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Models"];
                };
            };
            /** @description a person has to decide first (`code` is `needs_approval`) */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description refused, not found, or failed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    show_model_v1_models__model__get: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                model: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ModelShown"];
                };
            };
            /** @description a person has to decide first (`code` is `needs_approval`) */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description refused, not found, or failed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    complete_v1_chat_completions_post: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CompletionAsked"];
            };
        };
        responses: {
            /** @description a completion as OpenAI describes it, or its chunks */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": Record<string, never>;
                    "text/event-stream": string;
                };
            };
            /** @description a person has to decide first (`code` is `needs_approval`) */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description refused, not found, or failed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
}
