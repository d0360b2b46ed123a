import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { isDeepStrictEqual } from "node:util";
import { MessageChannel } from "node:worker_threads";
import { expect, onTestFinished, test } from "vitest";
import { createJobThreads, openChannel, ThreadEndedError } from "./job-threads.ts";

const MIB = 1_048_576;
const PIECE = MIB / 4;
const text = (length: number, unit = "x") => unit.repeat(length / unit.length);
const bytes = (length: number, from = 0) => Uint8Array.from({ length }, (_, index) => (index + from) % 251);

/** The value below so many levels. */
function deep(levels: number, value: unknown): unknown {
  return levels === 0 ? value : { level: deep(levels - 1, value) };
}

/** Sends values over a channel. Returns what arrived, and the size of each message. */
async function sent<Value>(...values: Value[]) {
  const { port1, port2 } = new MessageChannel();
  onTestFinished(() => port1.close());
  const sizes: number[] = [];
  const port = {
    on: (event: string, listener: (value: never) => void) => port1.on(event, listener as () => void),
    postMessage(message: unknown, moved: Parameters<typeof port1.postMessage>[1] = []) {
      const { piece, value } = message as { piece?: string | Uint8Array; value?: unknown };
      sizes.push(piece === undefined ? (JSON.stringify(value)?.length ?? 0) : piece.length);
      port1.postMessage(message, moved);
    },
  };
  const arrived: Value[] = [];
  let arrive = (): void => undefined;
  openChannel<never, Value>(port2, (value) => {
    arrived.push(value);
    arrive();
  });
  const send = openChannel<Value, never>(port, () => undefined);
  for (const value of values) {
    const next = new Promise<void>((resolve) => {
      arrive = resolve;
    });
    send(value);
    await next;
  }
  return { arrived, sizes };
}

test.each<[string, unknown]>([
  ["null", null],
  ["a small value", { a: [1, { b: "c" }], d: new Map([["e", 1]]) }],
  ["a long text", text(3 * MIB + 7)],
  ["characters that a cut halves", text(2 * MIB + 2, "🙂x")],
  ["long bytes", bytes(2 * MIB + 1)],
  [
    "long parts in fields and lists",
    {
      outputs: [
        ["a", { text: text(2 * MIB), sizeBytes: 1 }],
        ["b", { value: { x: 1 } }],
      ],
      more: { bytes: bytes(MIB + 1) },
    },
  ],
  [
    "a field with the name of a prototype",
    JSON.parse(`{"a":{"__proto__":"${text(MIB + 1)}"},"b":"${text(MIB + 1)}"}`),
  ],
  ["a text below many levels", deep(16, text(MIB + 1))],
  [
    "a long text before and behind more elements than are looked at",
    { list: [text(MIB + 1), ...Array.from({ length: 10_000 }, (_, index) => ({ index })), text(MIB + 1)] },
  ],
])("%s arrives as it was sent", async (_, value) => {
  const { arrived } = await sent(value);
  // Compared here: a difference of megabytes cannot be printed.
  expect(arrived.length).toBe(1);
  expect(isDeepStrictEqual(arrived[0], value)).toBe(true);
});

test("a list of bytes arrives with the same bytes", async () => {
  const list = Array.from({ length: 50 }, (_, index) => bytes(65_000, index));
  const { arrived, sizes } = await sent({ message: list });
  const [{ message } = { message: [] }] = arrived;
  expect(Buffer.concat(message).equals(Buffer.concat(list))).toBe(true);
  expect(list.every(({ byteLength }) => byteLength === 65_000)).toBe(true);
  expect(Math.max(...sizes)).toBeLessThanOrEqual(PIECE);
});

test("no message is longer than a piece, and values keep their order", async () => {
  const values = [{ text: text(5 * MIB) }, { text: "short" }, { text: text(MIB + 1) }];
  const { arrived, sizes } = await sent(...values);
  expect(arrived.map((value) => value.text.length)).toEqual([5 * MIB, 5, MIB + 1]);
  expect(Math.max(...sizes)).toBeLessThanOrEqual(PIECE);
  expect(sizes.length).toBe(20 + 1 + 1 + 5 + 1);
});

test("a long text eleven levels down goes in pieces", async () => {
  const { sizes } = await sent(deep(11, text(2 * MIB)));
  expect(Math.max(...sizes)).toBeLessThanOrEqual(PIECE);
});

test("no turn of the event loop sends more than one piece, however fast the other end is", async () => {
  let messages = 0;
  let hear: (message: never) => void = () => undefined;
  const send = openChannel(
    {
      on: (_, listener: (message: never) => void) => {
        hear = listener;
      },
      postMessage: (message: object) => {
        messages += 1;
        if ("piece" in message) hear({ next: true } as never);
      },
    },
    () => undefined,
  );
  send(text(3 * PIECE));
  for (const expected of [1, 2, 3, 4]) {
    expect(messages).toBe(expected);
    await setImmediate();
  }
});

test("bytes in memory that threads share are not copied", async () => {
  const shared = new Uint8Array(new SharedArrayBuffer(2 * MIB));
  const { arrived, sizes } = await sent({ shared });
  shared[MIB] = 7;
  expect(arrived[0]?.shared[MIB]).toBe(7);
  expect(sizes.length).toBe(1);
});

/** Threads of which each hears jobs and answers none. */
async function silentThreads() {
  const folder = await mkdtemp(join(tmpdir(), "threads-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const file = join(folder, "silent.mjs");
  await writeFile(
    file,
    'import { parentPort } from "node:worker_threads"; parentPort.on("message", () => {});',
  );
  return createJobThreads<string, string>({ file: pathToFileURL(file), perform: (job) => job });
}

test("at the stop all jobs end, with an error that says nothing about them, and no later one begins", async () => {
  const { perform, stop } = await silentThreads();
  const jobs = ["a", "b", "c", "d"].map((job) => perform(job).catch((error: unknown) => error));
  await stop();
  const errors = await Promise.all([...jobs, perform("e").catch((error: unknown) => error)]);
  expect(errors.map((error) => Object(error).code)).toEqual(errors.map(() => "THREADS_STOPPED"));
  expect(errors.some((error) => error instanceof ThreadEndedError)).toBe(false);
});
