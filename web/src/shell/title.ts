/** The name of the tab: what the page is about, and how much waits. */

let page = "Astra";
let waiting = 0;

export function namePage(title: string): void {
  page = title ? `${title} · Astra` : "Astra";
  write();
}

export function countWaiting(count: number): void {
  waiting = count;
  write();
}

function write(): void {
  document.title = waiting > 0 ? `(${waiting}) ${page}` : page;
}
