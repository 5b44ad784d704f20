import type { IconName } from "../parts/Icon";

export type Place = { to: string; name: string; icon: IconName; key: string; about: string };

/** Where a person can go, in the order of how often they need to. */
export const PLACES: Place[] = [
  { to: "/", name: "Inbox", icon: "inbox", key: "g i", about: "what waits for you" },
  {
    to: "/changes",
    name: "Changes",
    icon: "changes",
    key: "g c",
    about: "code the agent proposes",
  },
  { to: "/goals", name: "Goals", icon: "goals", key: "g o", about: "what is to be achieved" },
  { to: "/plans", name: "Plans", icon: "plans", key: "g p", about: "work in several steps" },
  { to: "/releases", name: "Releases", icon: "releases", key: "g r", about: "what is live" },
  {
    to: "/schedules",
    name: "Schedules",
    icon: "schedules",
    key: "g s",
    about: "what runs by the clock",
  },
  {
    to: "/desires",
    name: "Desires",
    icon: "desires",
    key: "g d",
    about: "what the agent would like",
  },
  {
    to: "/research",
    name: "Research",
    icon: "research",
    key: "g e",
    about: "questions and the quotes that answer them",
  },
  {
    to: "/beliefs",
    name: "Beliefs",
    icon: "beliefs",
    key: "g b",
    about: "what outcomes say",
  },
  { to: "/chat", name: "Chat", icon: "chat", key: "g h", about: "talk with the agent" },
  { to: "/ledger", name: "Ledger", icon: "ledger", key: "g l", about: "everything that happened" },
  {
    to: "/numbers",
    name: "Numbers",
    icon: "numbers",
    key: "g n",
    about: "how much of what, day by day",
  },
  { to: "/safety", name: "Safety", icon: "safety", key: "g f", about: "flags and grants" },
  { to: "/status", name: "Status", icon: "status", key: "g t", about: "is everything well" },
];

export const ON_THE_PHONE = ["/", "/changes", "/plans", "/releases"];
export const DOCS = "/docs/";
