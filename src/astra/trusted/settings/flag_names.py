"""The kill switches: what each is by default, and what it switches."""

FLAGS = {
    "PERSONA_MODE_ENABLED": (True, "the whole persona: chat, source view, writing tools"),
    "ASTRA_CODE_WRITE_ENABLED": (False, "changing and deploying code"),
    "AGENT_PLANNING_ENABLED": (True, "drafting plans"),
    "AGENT_RUNNER_ENABLED": (True, "running approved plans"),
    "ASTRA_SCHEDULER_ENABLED": (True, "running schedules"),
    "AGENT_AUTO_ESCALATE_ENABLED": (
        True,
        "suggesting a plan when a request in chat is long",
    ),
}
