import { cleanup, fireEvent, render, screen } from "@testing-library/react";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { press, useKeys } from "./keys";

const went = vi.fn();

function Page({ keys }: { keys: string }) {
  useKeys([{ keys, does: "go", run: went }]);
  return <input aria-label="field" />;
}

beforeEach(() => document.addEventListener("keydown", press));
afterEach(() => {
  cleanup();
  document.removeEventListener("keydown", press);
  went.mockReset();
});

it("runs what a key means while its page is there", () => {
  const { unmount } = render(<Page keys="a" />);
  fireEvent.keyDown(document.body, { key: "a" });
  unmount();
  fireEvent.keyDown(document.body, { key: "a" });
  expect(went).toHaveBeenCalledTimes(1);
});

it("knows two keys in a row", () => {
  render(<Page keys="g i" />);
  fireEvent.keyDown(document.body, { key: "g" });
  fireEvent.keyDown(document.body, { key: "i" });
  expect(went).toHaveBeenCalledTimes(1);
});

it("leaves typing and the browser's own keys alone", () => {
  render(<Page keys="a" />);
  fireEvent.keyDown(screen.getByLabelText("field"), { key: "a" });
  fireEvent.keyDown(document.body, { key: "a", ctrlKey: true });
  expect(went).not.toHaveBeenCalled();
});

it("leaves Enter to the link that is in focus", () => {
  function Inbox() {
    useKeys([{ keys: "Enter", does: "open the first", run: went }]);
    return <a href="#elsewhere">elsewhere</a>;
  }
  render(<Inbox />);
  fireEvent.keyDown(screen.getByRole("link"), { key: "Enter" });
  expect(went).not.toHaveBeenCalled();
  fireEvent.keyDown(document.body, { key: "Enter" });
  expect(went).toHaveBeenCalledTimes(1);
});

it("goes on working after a box was ticked", () => {
  function File() {
    useKeys([{ keys: "j", does: "next", run: went }]);
    return <input type="checkbox" aria-label="viewed" />;
  }
  render(<File />);
  fireEvent.keyDown(screen.getByLabelText("viewed"), { key: "j" });
  expect(went).toHaveBeenCalledTimes(1);
});
