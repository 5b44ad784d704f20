import { cleanup, fireEvent, render, screen } from "@testing-library/react";
import { afterEach, expect, it } from "vitest";
import { Untrusted } from "./Untrusted";

afterEach(cleanup);

it("shows markup as text and makes no element of it", () => {
  const { container } = render(<Untrusted text={'<img src=x onerror="alert(1)">'} />);
  expect(container.querySelector("img")).toBeNull();
  expect(container.textContent).toBe('<img src=x onerror="alert(1)">');
});

it("marks characters that would not be visible", () => {
  render(<Untrusted text={"pay\u202eevil"} />);
  expect(screen.getByTitle("a character that would not be visible").textContent).toBe("\\u202e");
});

it("folds a very long text until somebody asks for all of it", () => {
  const { container } = render(<Untrusted text={"n".repeat(10_000)} max={100} />);
  expect(container.textContent?.length).toBeLessThan(200);
  fireEvent.click(screen.getByRole("button", { name: "show all 10,000 characters" }));
  expect(container.textContent).toBe("n".repeat(10_000));
});
