/** The live view on a terminal that is a stream: the content of each drawing, and what stays at the end. */
import { PassThrough } from "node:stream";
import { stripVTControlCharacters } from "node:util";
import { ApiUnreachableError, type Client } from "@planwright/client";
import { expect, test } from "vitest";
import type { CommandContext } from "../src/commands/command-context.ts";
import { followToEnd, showLive } from "../src/commands/follow-to-end.ts";
import type { PlanRecord } from "../src/operations.ts";
import { createCommandLine } from "../src/report/format.ts";
import { createOutput } from "../src/terminal.ts";
import { NOW_MS, planOf, REQUEST_ID, requestOf, stepOf } from "./fixtures/requests.ts";

const ROWS = 12;

/** A terminal of 12 lines, and the list of drawings that were written to it. */
function terminal() {
  const stream = new PassThrough();
  const drawings: string[] = [];
  stream.on("data", (chunk: Buffer) => void drawings.push(chunk.toString()));
  // For the program a stream with isTTY and a size is a terminal.
  const stdout = Object.assign(stream, {
    isTTY: true,
    columns: 80,
    rows: ROWS,
  }) as unknown as NodeJS.WriteStream;
  return { output: createOutput(stdout, stdout, { NO_COLOR: "1" }), drawings };
}

/** What a command gets, with a client that follows so and is asked for nothing else. */
function contextOf(output: CommandContext["output"], follow: Client["follow"]): CommandContext {
  const never = () => Promise.reject(new TypeError("not asked"));
  return {
    client: {
      url: "http://127.0.0.1:1/graphql",
      execute: never,
      readRequest: never,
      download: never,
      subscribe: () => expect.unreachable(),
      follow,
      submit: never,
      run: never,
      request: never,
    },
    output,
    isJson: false,
    canAsk: false,
    command: createCommandLine({ program: "planwright" }),
    stdin: new PassThrough(),
    signal: new AbortController().signal,
    now: () => NOW_MS,
  };
}

/** Shows the states that `follow` yields, and returns the drawings. */
async function drawingsOf(follow: (drawings: string[]) => Client["follow"]): Promise<string[]> {
  const { output, drawings } = terminal();
  await showLive(contextOf(output, follow(drawings)), REQUEST_ID);
  return drawings;
}

async function hasDrawn(drawings: string[], part: string): Promise<void> {
  await expect.poll(() => drawings.join("")).toContain(part);
}
const running = (plan: PlanRecord) => requestOf({ plan });

test("before the first state a spinner turns beside the id, then the tree replaces it, and nothing stays", async () => {
  const drawings = await drawingsOf(
    (drawn) =>
      async function* () {
        await hasDrawn(drawn, `⠙ ${REQUEST_ID}`);
        yield running(
          planOf([stepOf("author", { status: "RUNNING" }), stepOf("blog", { dependsOn: ["author"] })]),
        );
        await hasDrawn(drawn, `⠇ ${REQUEST_ID}  executing  0 of 2 steps`);
      },
  );
  expect(stripVTControlCharacters(drawings.join(""))).toMatch(/└─ ⠇ author.*\n {3}└─ ○ blog/);
  const all = drawings.join("");
  // The last drawing is erased, line by line.
  expect(all.lastIndexOf("\u001b[2K")).toBeGreaterThan(all.lastIndexOf("author"));
});

test("a connection problem is shown below the tree until the next reading", async () => {
  const away = new ApiUnreachableError("http://127.0.0.1:1/graphql", "ECONNREFUSED");
  const drawings = await drawingsOf(
    (drawn) =>
      async function* (_id, { onTrouble } = {}) {
        yield running(planOf([stepOf("author", { status: "RUNNING" })]));
        onTrouble?.(away);
        await hasDrawn(drawn, "trying again");
        yield running(planOf([stepOf("author", { status: "COMPLETED", durationMs: 7 })]));
        await hasDrawn(drawn, "✔ author");
      },
  );
  const troubled = drawings.findLastIndex((drawing) => drawing.includes("trying again"));
  expect(drawings[troubled]).toContain("The API at http://127.0.0.1:1/graphql does not answer");
  expect(drawings.findIndex((drawing) => drawing.includes("✔ author"))).toBeGreaterThan(troubled);
});

test("no drawing is higher than the terminal, however many steps there are", async () => {
  const steps = Array.from({ length: 300 }, (_, index) =>
    stepOf(`step${index}`, { status: index === 200 ? "RUNNING" : "PENDING" }),
  );
  const drawings = await drawingsOf(
    (drawn) =>
      async function* () {
        yield running(planOf(steps));
        await hasDrawn(drawn, "step200");
      },
  );
  for (const drawing of drawings) expect(drawing.split("\n").length).toBeLessThanOrEqual(ROWS);
});

test("where lines are printed, a connection problem is one line until the next state", async () => {
  const away = new ApiUnreachableError("http://127.0.0.1:1/graphql", "ECONNREFUSED");
  const stream = new PassThrough();
  const output = createOutput(stream, stream, {});
  const context = contextOf(output, async function* (_id, { onTrouble } = {}) {
    for (let second = 0; second < 60; second += 1) onTrouble?.(away);
    yield running(planOf([stepOf("author", { status: "RUNNING" })]));
    onTrouble?.(away);
    throw away;
  });
  await followToEnd(context, REQUEST_ID);
  const lines = String(stream.read()).split("\n");
  expect(lines.filter((line) => line.endsWith("; trying again"))).toHaveLength(2);
});
