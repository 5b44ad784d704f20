"""What each key of `astra.toml` and each setting of the environment means.

For `docs/reference/settings.md`.

A test holds the names against the configuration's own fields: none is missing, none is left over.
"""

MEANINGS = {
    "alerts": "alert rules of your own, as `[[alerts]]`: [how](../howto/be-alerted.md)",
    "methods": "how goals are decomposed, as `[[methods]]`: [how](../howto/set-a-goal.md)",
    "target.repo": "the repository that `astra init` was given; a note, fixed at init",
    "target.branch": "the branch that `astra init` found; a note, fixed at init",
    "target.test_command": "runs the tests of a change, in a box; `{junit}` is where a report goes",
    "target.test_paths": "which paths count as tests",
    "target.toolchain": "programs outside `/usr` that boxes may run, by their whole paths",
    "target.environment": "what tests, agent and app need: `auto`, `venv`, `npm`, `command`, or the"
    " whole path of a folder",
    "target.environment_command": "builds the environment where that is `command`, into"
    " `$ENVIRONMENT_FOLDER`",
    "target.registries": "package registries, the only hosts that building an environment reaches",
    "target.packages": "packages that the environment gets besides what the target's files ask for",
    "target.env": "variables of tests, builds, the agent's boxes and the app",
    "target.allowed_paths": "the only paths that changes may touch; empty: all",
    "target.forbidden_paths": "paths that no change may touch",
    "target.protected_paths": "paths that need your consent by name; empty: CI, hooks and agent"
    " configuration",
    "target.max_file_kb": "KiB that a change may add to one file",
    "target.max_files": "files that one change may touch",
    "target.binary_paths": "where a change may add or replace binary files",
    "target.blocking_findings": "rules; a change with such a finding cannot be approved",
    "target.mutation_seconds": "how long mutants of a change are tried; 0 turns it off",
    "target.require_human_approval_for_test_changes": "an agent deploys nothing while a change to"
    " tests waits for you",
    "target.auto_approve_paths": "changes to nothing but these, without findings and with passing"
    " tests, need no signature",
    "target.auto_approve_until": "when that ends, with its time zone",
    "target.upstream": "where commits of people come from; empty: the repository given to init",
    "target.upstream_token": "the file of `var/secrets` with the token for an upstream over HTTPS",
    "target.sync.accept": "whose fast-forwards need no signature: of nobody, of named authors, of"
    " named signers",
    "target.sync.authors": "mail addresses; anybody who may push can write one into a commit",
    "target.sync.signers": 'SSH keys that sign commits: `"name ssh-ed25519 AAAA…"`',
    "target.sync.until": "when that ends, with its time zone",
    "target.sync.every_minutes": "how often the upstream is fetched by itself; 0: never",
    "target.sync.before_proposals": "fetch the upstream before each proposal, too",
    "agent.read_scope": "what read tools may read: the source, also granted paths, or everything"
    " but secrets",
    "agent.read_paths": "the granted paths",
    "agent.secret_patterns": "names of files that are secrets, besides the built-in ones",
    "app.command": "starts the app; `{port}` and `{fd}` stand for its port and its socket",
    "app.port": "the app's port; 0: a free one",
    "app.health_path": "what is asked over HTTP; `auto`: `/healthz`, or nothing without a port",
    "app.health_command": "a program that has to exit with 0 for the app to be healthy",
    "app.client_build": "runs when a release is built, in its folder",
    "app.env": "variables of the app, besides those of `[target]`",
    "app.reload": "let the running app take small changes over, on SIGHUP",
    "app.start_seconds": "how long a release may take to its first good answer",
    "app.watch_seconds": "how long a release is watched after the switch",
    "app.health_host": "the Host header of health probes",
    "app.health_seconds": "how long one probe may take",
    "app.drain_seconds": "how long a replaced release may finish what it accepted",
    "app.replace": "start a release beside the old one, or end the old one first",
    "app.before_start": "runs once for each release before it starts: a migration",
    "app.before_start_seconds": "how long that may take",
    "app.snapshot_mb": "MiB of a state folder that are saved before it at most",
    "app.parts": "other processes of the app, as `[app.parts.NAME]` with `command`",
    "app.permissions.network": '`"host"`, or the domains that the app reaches; empty: none',
    "app.permissions.state_path": "the folder that the app may write, below the data root",
    "app.permissions.secrets": "files of `var/secrets` that the app gets as variables",
    "app.permissions.secret_files": "secret files of the repository that a release holds anyway",
    "app.permissions.state_mb": "MiB that the state folder may hold; beyond, the app is ended",
    "app.permissions.listen_ports": 'ports that it may bind besides its own, with `"host"`',
    "deploy.keep": "releases that are kept",
    "deploy.require_tests": "no deployment without passing tests",
    "deploy.push": "how a settled commit goes out: to the branch, a branch of its own, a pull"
    " request",
    "deploy.push_remote": "where it goes; empty: nowhere",
    "deploy.push_token": "the file of `var/secrets` with the token for it",
    "deploy.forge": "whose API makes pull requests; Forgejo is `gitea`",
    "deploy.forge_api": "where that API is, unless it follows from `push_remote`",
    "deploy.commit_checks": "has to exit with 0 before a push, in a box without network",
    "deploy.staging": "run a release on its own for up to ten seconds first",
    "deploy.fleet.instances": "labels of the machines that run the app: [how](../howto/fleet.md)",
    "deploy.fleet.waves": "how many instances each wave has",
    "deploy.fleet.max_down": "how many may be in change or away at once",
    "deploy.fleet.pause_seconds": "how long to wait before the next wave",
    "deploy.fleet.watch_seconds": "how long a wave is watched",
    "deploy.fleet.away_seconds": "how long a wave waits for an instance that is away",
    "deploy.fleet.instance_seconds": "how long one instance may take to prove a release",
    "deploy.fleet.wave_seconds": "how long a wave may take",
    "deploy.fleet.rollback_seconds": "how long going back may take",
    "coder.command": "a coding agent of yours for plans, instead of the built-in coder",
    "coder.offer_model": "lets it call the model of `[model]` from its box, counted for the plan,"
    " without its key",
    "model.name": "`openai:NAME`, `anthropic:NAME`, or a name that `base_url` knows",
    "model.base_url": "a server that speaks OpenAI's protocol",
    "model.key_env": "the variable or line of `.env` that holds its key",
    "model.temperature": "0 to 2; left out: the server's own for hosted models, 0.2 for others",
    "model.silence_seconds": "how long it may say nothing before a call is given up",
    "model.call_seconds": "how long a call may take altogether",
    "model.output_tokens": "tokens of one answer at most",
    "model.context_tokens": "tokens that it can read and write in one call; 0: not known",
    "model.roles.draft": "another model for drafting plans and decomposing goals",
    "model.roles.work": "… for the steps of plans",
    "model.roles.code": "… for writing code",
    "model.roles.chat": "… for chat",
    "model.roles.research": "… for research",
    "notify.channels": "names of lines of `.env` that hold addresses of channels",
    "notify.include_content": "notifications say what waits, not only that something does",
    "notify.push_services": "hosts of push services besides those of the big browsers",
    "budgets.schedule_per_day": "firings a day that a schedule may be given without a signature",
    "budgets.tool_per_day": "starts of one tool on one UTC day, whoever starts it",
    "budgets.actor_per_day": "starts on one UTC day, of all agents together and of all operators",
    "budgets.boxes_at_once": "boxes that one actor may have running",
    "budgets.waiting_requests": "requests of one actor that may wait for you",
    "ledger.witness": "where each checkpoint goes besides the data root: a folder, a git remote, an"
    " https address",
    "ledger.objects": "the git repository through which commits reach other machines",
    "workers.test_labels": "what a worker must say of itself to be given test runs",
    "beliefs.weights.rollback": "how much it counts that a release was taken back",
    "beliefs.weights.settlement": "… that a release stayed healthy for its watch",
    "beliefs.weights.test_pass": "… that tests passed",
    "beliefs.weights.test_failure": "… that tests failed",
    "beliefs.weights.test_flake": "… that a test passed only the second time",
    "beliefs.weights.goal_success": "… that a goal was satisfied",
    "beliefs.weights.task_success": "… that a goal's task succeeded",
    "beliefs.weights.task_failure": "… that a goal's task failed",
    "beliefs.weights.firing_success": "… that a schedule's firing succeeded",
    "beliefs.weights.firing_failure": "… that a schedule's firing failed",
    "beliefs.weights.call_success": "… that a tool call succeeded",
    "beliefs.weights.call_failure": "… that a tool call failed",
    "goals.adopt_repairs_until": "until when goals that mend a release taken back need no"
    " signature, with its time zone",
    "mcp.servers": "other MCP servers, as `[[mcp.servers]]`: [how](../howto/other-servers.md)",
    "egress.secrets": "secrets that the egress proxy adds, as `[[egress.secrets]]`:"
    " [how](../howto/other-servers.md)",
    "traces.endpoint": "where OpenTelemetry traces go over OTLP; empty: nowhere",
    "spend.currency": "the currency of the prices, as text",
    "spend.tokens_per_day": "tokens of all model calls on one UTC day; left out: no cap",
    "spend.tokens_per_actor": "… of one actor on one UTC day",
    "spend.tokens_per_goal": "… of one goal",
    "spend.tokens_per_plan": "… of one plan",
    "spend.money_per_day": "what all model calls of one UTC day may cost; left out: no cap",
    "spend.money_per_actor": "… those of one actor on one UTC day",
    "spend.money_per_goal": "… those of one goal",
    "spend.money_per_plan": "… those of one plan",
    "spend.prices": "prices of models, as `[[spend.prices]]`: [how](../howto/cap-spending.md)",
}


ENVIRONMENT = {
    "AGENT_DATA_ROOT": "the data root",
    "AGENT_CODE_REPO_PATH": "the agent's clone of the target; fixed by `astra init`",
    "AGENT_SANDBOX_PATH": "the agent's playground; fixed by `astra init`",
    "ASTRA_DAEMON_IDLE_MINUTES": "a daemon started on demand leaves after so long without clients"
    " or due work",
    "ASTRA_OPERATOR_PASSPHRASE": "the operator's passphrase, for data roots made with `init"
    " --throwaway` only",
    "ASTRA_BACKUP_PASSPHRASE": "the passphrase of encrypted backups, for `astra backup` and `astra"
    " restore` only",
    "ASTRA_PORT": "the loopback port of `astra up`",
    "ASTRA_PUBLIC_URL": "the https address of a TLS proxy or tunnel in front of `astra up`",
    "ASTRA_DATABASE_URL": "the Postgres database that holds the chain, where `astra ledger move`"
    " put it there",
    "ASTRA_RELEASE": "the release that this Astra is, set by an Astra that runs it as its app; its"
    " health names it",
    "ASTRA_STATE": "the state folder of an app, set by an Astra that runs this one; refer to it as"
    " in `AGENT_DATA_ROOT=${ASTRA_STATE}/data`",
    "ASTRA_SANDBOX": "what runs agent code; off-unsafe counts in `.env` or for `astra up`, and"
    " only with the operator's signature (`astra sandbox off-unsafe`)",
    "ASTRA_MCP_TOOL_NAMES": "how `astra mcp` advertises tool names; it understands both",
    "ASTRA_MODEL": "the model, for throwaway data roots only",
    "ASTRA_MODEL_BASE_URL": "its server, for throwaway data roots only",
    "AGENT_READ_SCOPE": "what read tools may read; only narrows what astra.toml allows",
    "AGENT_GIT_USER_NAME": "the agent's name in commits",
    "AGENT_GIT_USER_EMAIL": "its address in commits",
    "AGENT_DEPLOY_TEST_TIMEOUT": "seconds the target's tests may take",
    "AGENT_DEPLOY_REQUIRE_TESTS": "no deploy without passing tests; off only by `[deploy]"
    " require_tests` in astra.toml",
    "AGENT_REQUIRE_HUMAN_APPROVAL_FOR_TEST_CHANGES": "an agent deploys nothing while a change to"
    " tests waits for a person; off only by `[target] require_human_approval_for_test_changes`"
    " in astra.toml",
    "AGENT_RUNNER_MAX_CONCURRENT": "plans that run at once",
    "MAX_CLARIFYING_ROUNDS": "rounds of questions before drafting",
    "DESIRE_HALF_LIFE_DAYS": "days until a desire is half as strong; a new value counts from the"
    " daemon's next start",
    "DESIRE_SURVEY_HOURS": "hours between two entries of the strongest desires in the awareness"
    " feed",
}
"""What each setting of the environment means; those of the flags are beside the flags."""
