/** A refusal as the server words it: a code for programs, a sentence and a next step for people. */
export class Problem extends Error {
  readonly status: number;
  readonly code: string;
  readonly detail: string;
  readonly nextStep: string;
  readonly more: Record<string, unknown>;

  constructor(status: number, body: Record<string, unknown>) {
    const detail = text(body.detail) || `the server answered ${status}`;
    super(detail);
    this.status = status;
    this.code = text(body.code) || "unknown";
    this.detail = detail;
    this.nextStep = text(body.next_step);
    this.more = body;
  }

  static unreachable(): Problem {
    return new Problem(0, {
      code: "unreachable",
      detail: "Astra does not answer.",
      next_step: "Start it with `astra up`. This page comes back by itself.",
    });
  }

  /** Word whatever was thrown. */
  static of(error: unknown): Problem {
    if (error instanceof Problem) return error;
    return new Problem(0, { code: "page_error", detail: String(error) });
  }
}

function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}
