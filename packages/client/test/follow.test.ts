import { EventEmitter, once } from "node:events";
import { describe, expect, test } from "vitest";
import { ApiRefusedError, ApiUnreachableError } from "../src/errors.ts";
import { createPolling, createStreaming } from "../src/follow.ts";
import { planOf, REQUEST_ID, requestOf, stepOf } from "./progress.ts";

describe("following", () => {
  const URL = "http://127.0.0.1:1/graphql";
  const unreachable = new ApiUnreachableError(URL, "ECONNREFUSED");

  /**
   * Polls a client that returns these readings or errors in order; returns the statuses and problems seen.
   */
  async function follow(readings: (object | Error)[], until: "rest" | "end" = "rest", wasAccepted = false) {
    const left = [...readings];
    const progress = () => {
      const next = left.shift();
      return next instanceof Error ? Promise.reject(next) : Promise.resolve(next as never);
    };
    const seen: string[] = [];
    const options = {
      until,
      wasAccepted,
      signal: new AbortController().signal,
      onTrouble: (error: Error) => void seen.push(`trouble: ${error.name}`),
    };
    const times = { minMs: 1, maxMs: 1 };
    for await (const { status } of createPolling({ progress }, times)(REQUEST_ID, options)) seen.push(status);
    return seen;
  }

  const planning = requestOf({ status: "PLANNING" });
  const completed = requestOf({ status: "COMPLETED" });
  const asking = requestOf({ status: "NEEDS_INPUT" });

  test("yields each state once and ends with the last one", async () => {
    expect(await follow([planning, planning, completed])).toEqual(["PLANNING", "COMPLETED"]);
  });

  test("ends when a client or operator is needed, or continues until the end", async () => {
    expect(await follow([planning, asking])).toEqual(["PLANNING", "NEEDS_INPUT"]);
    expect(await follow([asking, planning, completed], "end")).toEqual([
      "NEEDS_INPUT",
      "PLANNING",
      "COMPLETED",
    ]);
  });

  test("a growing duration is not a change", async () => {
    const running = (durationMs: number) =>
      requestOf({ plan: planOf([stepOf("a", { durationMs })], { durationMs }) });
    const waiting = (waitedForPeopleMs: number) =>
      requestOf({ plan: planOf([], { status: "RUNNING", waitedForPeopleMs }) });
    expect(await follow([running(1), running(2), completed])).toEqual(["EXECUTING", "COMPLETED"]);
    expect(await follow([waiting(1), waiting(2), completed])).toEqual(["EXECUTING", "COMPLETED"]);
  });

  test("the time that a reader takes over a state does not count as time without an answer", async () => {
    const takeLong = () => new Promise((resolve) => setTimeout(resolve, 60));
    const left = [planning, unreachable, completed];
    const progress = async () => {
      const next = left.shift();
      if (next instanceof Error) throw next;
      return next as never;
    };
    const times = { minMs: 1, maxMs: 1, timeoutMs: 30 };
    const polled: string[] = [];
    for await (const { status } of createPolling({ progress }, times)(REQUEST_ID)) {
      polled.push(status);
      await takeLong();
    }
    expect(polled).toEqual(["PLANNING", "COMPLETED"]);

    const states = [planning, completed];
    const reads = {
      progress,
      async *changes() {
        const next = states.shift();
        if (next) yield next as never;
        throw unreachable;
      },
    };
    const streamed: string[] = [];
    const follow = createStreaming(reads, createPolling({ progress }), { againMs: 1, timeoutMs: 30 });
    for await (const { status } of follow(REQUEST_ID)) {
      streamed.push(status);
      await takeLong();
    }
    expect(streamed).toEqual(["PLANNING", "COMPLETED"]);
  });

  test("an API that answered before is tried again; one that never answered is an error", async () => {
    const overloaded = new ApiRefusedError("too much", {
      code: "OVERLOADED",
      retryable: true,
      remedy: null,
      path: [],
      facts: {},
    });
    expect(await follow([planning, unreachable, overloaded, completed])).toEqual([
      "PLANNING",
      "trouble: ApiUnreachableError",
      "trouble: ApiRefusedError",
      "COMPLETED",
    ]);
    await expect(follow([unreachable])).rejects.toBe(unreachable);
  });

  test("an API that has accepted the request is tried again from the beginning", async () => {
    expect(await follow([unreachable, completed], "rest", true)).toEqual([
      "trouble: ApiUnreachableError",
      "COMPLETED",
    ]);
  });

  test("a refusal that is not retryable is thrown", async () => {
    const unknown = new ApiRefusedError("unknown", {
      code: "NOT_FOUND",
      retryable: false,
      remedy: null,
      path: [],
      facts: {},
    });
    await expect(follow([planning, unknown])).rejects.toBe(unknown);
  });
});

describe("following a stream", () => {
  const broken = new ApiUnreachableError("http://127.0.0.1:1/graphql/stream", "the stream broke off");
  const planning = requestOf({ status: "PLANNING" });
  const running = requestOf({ status: "EXECUTING" });
  const completed = requestOf({ status: "COMPLETED" });

  /**
   * Follows streams with these events, errors or silences, and these readings; returns the statuses and
   * problems seen. "reading" is a silence until the next reading.
   */
  async function follow(streams: (object | Error | "silence" | "reading")[][], readings: object[] = []) {
    const left = [...streams];
    const seen: string[] = [];
    const api = new EventEmitter();
    const reads = {
      async progress() {
        api.emit("reading");
        return readings.shift() as never;
      },
      async *changes(_: string, { signal }: { signal?: AbortSignal | undefined }) {
        for (const event of left.shift() ?? []) {
          if (event instanceof Error) throw event;
          if (event === "silence") await once(signal as AbortSignal, "abort");
          else if (event === "reading") await once(api, "reading");
          else yield event as never;
        }
      },
    };
    async function* poll() {
      seen.push("polls");
      yield completed;
    }
    const options = {
      signal: new AbortController().signal,
      onTrouble: (error: Error) => void seen.push(`trouble: ${error.name}`),
    };
    const times = { quietMs: 50, againMs: 1 };
    for await (const { status } of createStreaming(reads, poll, times)(REQUEST_ID, options))
      seen.push(status);
    return seen;
  }

  test("yields each state once and closes the stream after the last one", async () => {
    expect(await follow([[planning, planning, completed, broken]])).toEqual(["PLANNING", "COMPLETED"]);
  });

  test("a stream that broke off, or ended early, is opened again", async () => {
    expect(await follow([[planning, broken], [broken], [planning], [running, completed]])).toEqual([
      "PLANNING",
      "trouble: ApiUnreachableError",
      "trouble: ApiUnreachableError",
      "EXECUTING",
      "COMPLETED",
    ]);
  });

  test("a stream that cannot be opened is replaced by polling", async () => {
    expect(await follow([[broken]])).toEqual(["polls", "COMPLETED"]);
  });

  test("after a silence of the stream the request is read", async () => {
    const unattended = requestOf({ status: "PLANNING", waitReason: "no worker" });
    expect(await follow([[planning, "silence"], ["silence"]], [unattended, completed])).toEqual([
      "PLANNING",
      "PLANNING",
      "COMPLETED",
    ]);
  });

  test("an event that was on its way when the request was read does not take a newer state back", async () => {
    expect(
      await follow(
        [
          [planning, "reading", planning],
          [running, completed],
        ],
        [running],
      ),
    ).toEqual(["PLANNING", "EXECUTING", "COMPLETED"]);
  });

  test("follows until a requested answer is written", async () => {
    const waiting = requestOf({ status: "COMPLETED", answerRequested: true });
    const answered = requestOf({ status: "COMPLETED", answerRequested: true, answer: "Alice is there." });
    expect(await follow([[waiting, answered, broken]])).toEqual(["COMPLETED", "COMPLETED"]);
  });
});
