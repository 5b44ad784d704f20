/** Being told on this device, by push: what the browser allows, and what Astra knows of it. */

import { answer, api } from "./client";

export type Told = "unsupported" | "blocked" | "off" | "on";
const RENEW_BEFORE_MS = 20 * 86_400_000;

export const pushWorks = (): boolean =>
  "serviceWorker" in navigator && "PushManager" in globalThis && "Notification" in globalThis;

/** Say how it stands here; a device that is told is renewed long before it would be forgotten. */
export async function told(): Promise<Told> {
  if (!pushWorks()) return "unsupported";
  if (Notification.permission === "denied") return "blocked";
  const subscription = await (await manager()).getSubscription();
  if (!subscription) return "off";
  const known = await device(subscription);
  if (!known) return "off";
  if (Date.parse(known.expires_at) - Date.now() < RENEW_BEFORE_MS) await tell(subscription);
  return "on";
}

export async function turnOn(): Promise<Told> {
  if ((await Notification.requestPermission()) !== "granted") return told();
  const { key } = await answer(api.GET("/api/devices"));
  const pushes = await manager();
  await (await pushes.getSubscription())?.unsubscribe();
  const applicationServerKey = bytes(key);
  await tell(await pushes.subscribe({ userVisibleOnly: true, applicationServerKey }));
  return "on";
}

export async function turnOff(): Promise<Told> {
  const subscription = await (await manager()).getSubscription();
  const known = subscription && (await device(subscription));
  if (known) {
    const params = { path: { identifier: known.id } };
    await answer(api.DELETE("/api/devices/{identifier}", { params }));
  }
  await subscription?.unsubscribe();
  return "off";
}

async function manager(): Promise<PushManager> {
  return (await navigator.serviceWorker.ready).pushManager;
}

async function tell(subscription: PushSubscription): Promise<void> {
  const { endpoint, keys } = subscription.toJSON();
  const body = {
    endpoint: endpoint ?? "",
    keys: { p256dh: keys?.p256dh ?? "", auth: keys?.auth ?? "" },
  };
  await answer(api.POST("/api/devices", { body }));
}

/** Find this browser among the devices that are told; its id is a hash of its endpoint. */
async function device({ endpoint }: PushSubscription) {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(endpoint));
  const id = `dev_${[...new Uint8Array(digest)].map(hex).join("").slice(0, 16)}`;
  const { items } = await answer(api.GET("/api/devices"));
  return items.find((each) => each.id === id);
}

const hex = (byte: number): string => byte.toString(16).padStart(2, "0");

function bytes(text: string): Uint8Array<ArrayBuffer> {
  const plain = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
  return Uint8Array.from(plain, (letter) => letter.charCodeAt(0));
}
