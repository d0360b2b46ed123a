import { UNFINISHED_PLAN_STATUSES } from "@planwright/plan";
import { createStore, type Store } from "@planwright/store";
import { startSystem } from "@planwright/testing";
import { MongoClient } from "mongodb";
import { expect } from "vitest";
import { bearer } from "../keys.ts";
import { type Answer, type ApiClient, BLOG_TOOLS, createApiClient } from "../running-api.ts";
import { createAnswerTimes } from "./answer-times.ts";
import { expandMacros } from "./expand-macros.ts";

/** API, planner, executor and tools in this process, for the cases of one file. */
export interface RunningSystem extends ApiClient {
  /** The GraphQL endpoint. */
  url: string;
  /** The database of all services. */
  mongodbUrl: string;
  store: Store;
  /** Sends JSON after expanding its macros. */
  post(
    path: string,
    value: unknown,
    more?: { headers?: object; ids?: Record<string, string> },
  ): Promise<Answer>;
  /**
   * Runs one case. It must be answered in time, and the next valid query must work. It may have stored only what
   * `leaves` allows, and no tool that counts calls may have been called: of cases that leave nothing, this is checked
   * for all since the last valid plan together.
   * @param until - must have ended before these checks; there is no time limit for it
   */
  play<T>(
    name: string,
    run: () => Promise<T>,
    leaves?: Leavings,
    until?: (result: T) => Promise<void>,
  ): Promise<T>;
  /**
   * Follows a request until it has ended; fails if its last status is not the expected one, and with all that is
   * known of it when it is silent for a minute.
   */
  follow(requestId: string, status: string): Promise<void>;
  /**
   * Checks that the next valid plan runs to its end through queue, executor and tools, and that no service
   * logged a
   * problem except the allowed ones.
   */
  expectWorking(): Promise<void>;
  /** Stops everything, and prints how long answers took. */
  close(): Promise<void>;
}

/** What a case may leave behind: nothing, or one request with its plan that no longer changes. */
export type Leavings = "nothing" | "an ended request";

/** After so many cases a valid plan runs; after every case a valid query runs. */
const CASES_BETWEEN_PLANS = 25;
/** Without the keys: they record their last use. */
const COLLECTIONS = ["requests", "plans", "journal", "outbox", "outputs", "modelCalls", "tools"];
const SUBMIT = "mutation ($plan: JSON!) { submitPlan(plan: $plan) { requestId } }";
const FOLLOW = "subscription ($id: ID!) { requestUpdated(requestId: $id) { status } }";
/** Longest time between two events of a subscription. */
const MAX_SILENCE_MS = 60_000;
const READ_ALL =
  "query ($id: ID!) { request(requestId: $id) { status plan { status waitReason steps { status waitReason attempts { startedAt finishedAt outcome } } } } }";
const READ = "query ($id: ID!) { request(requestId: $id) { status } }";

/** Options that depend on the cases of one file. */
export interface RunningSystemOptions {
  /** Environment of the API. */
  api?: Record<string, string>;
  /** Environment of all services. */
  env?: Record<string, string>;
  /** Tool servers in addition to the one that counts calls. */
  mcpServers?: Readonly<Record<string, object>>;
  /**
   * True if a service may log this line: a warning, an error, or text that is not a log entry. Default: none.
   */
  mayLog?: (line: string) => boolean;
}

/** @param file - name of the file with the cases, printed with the times */
export async function startRunningSystem(
  file: string,
  { api = {}, env, mcpServers = {}, mayLog = () => false }: RunningSystemOptions = {},
): Promise<RunningSystem> {
  const system = await startSystem({
    env: { SWEEP_EVERY_MS: "1000", ...env },
    api,
    mcpServers,
    tools: BLOG_TOOLS.map(({ name, description = "", annotations = {}, inputSchema }) => {
      const contract = { mode: "parallel-safe", side_effects: true, idempotency: "none" } as const;
      return { name, description, annotations, inputSchema, contract, effect: "always" };
    }),
  });
  await system.startPlanner({ MODEL: "offline" });
  const store = await createStore({ url: system.mongodbUrl });
  const mongo = await MongoClient.connect(system.mongodbUrl);
  const database = mongo.db();
  const client = createApiClient(system.apiUrl);
  const headers = await bearer(store, ["read", "execute"]);
  const times = createAnswerTimes();
  /** Arguments of each tool call by valid requests, in order. */
  const effects: object[] = [];
  let lastGood = "";
  let played = 0;
  /** The fingerprint before the cases that left nothing, and their names: a fingerprint takes longer than a case. */
  let stored: unknown;
  let unchecked: string[] = [];

  /** Returns a check of what the next case leaves behind. */
  async function watchStored(name: string, leaves: Leavings): Promise<() => Promise<void>> {
    if (leaves === "nothing") {
      stored ??= await fingerprint();
      unchecked.push(name);
      return async () => undefined;
    }
    await expectNothingStored();
    const { requests, plans, unfinished } = await counts();
    return async () => {
      expect(await counts()).toEqual({ requests: requests + 1, plans: plans + 1, unfinished });
      await expectEffects();
    };
  }

  async function expectNothingStored(): Promise<void> {
    const cases = unchecked;
    const before = stored;
    unchecked = [];
    stored = undefined;
    if (cases.length > 0) expect({ cases, stored: await fingerprint() }).toEqual({ cases, stored: before });
    await expectEffects();
  }

  /** Hash of all stored documents, by collection. */
  async function fingerprint(): Promise<unknown> {
    return (await database.command({ dbHash: 1, collections: COLLECTIONS }))["collections"];
  }

  async function counts() {
    const [requests, plans, unfinished] = await Promise.all([
      database.collection("requests").countDocuments(),
      database.collection("plans").countDocuments(),
      database.collection("plans").countDocuments({ status: { $in: UNFINISHED_PLAN_STATUSES } }),
    ]);
    return { requests, plans, unfinished };
  }

  async function expectEffects(): Promise<void> {
    const ledger = await system.tools.ledger();
    expect(ledger.map(({ tool, arguments: given }) => ({ tool, ...given }))).toEqual(effects);
    const calls = Object.values(system.tools.stats()).map((of) => of.calls);
    expect(calls.reduce((sum, of) => sum + of, 0)).toBe(effects.length);
  }

  async function expectReads(): Promise<void> {
    const { body } = await client.graphql(READ, { id: lastGood }, headers);
    expect(body).toEqual({ data: { request: { status: "COMPLETED" } } });
  }

  async function follow(requestId: string, status: string): Promise<void> {
    const silence = new AbortController();
    const timer = setTimeout(() => silence.abort(), MAX_SILENCE_MS);
    let text = "";
    try {
      const response = await fetch(new URL("/graphql/stream", system.apiUrl), {
        method: "POST",
        headers: { ...headers, "content-type": "application/json", accept: "text/event-stream" },
        body: JSON.stringify({ query: FOLLOW, variables: { id: requestId } }),
        signal: silence.signal,
      });
      for await (const part of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
        text += part;
        // Others only keep the connection open.
        if (part.includes("event: next")) timer.refresh();
      }
    } catch (error) {
      const { text: found } = await client.graphql(READ_ALL, { id: requestId }, headers);
      const facts = { sent: text, found, problems: system.loggedProblems().slice(-20) };
      const log = system.logged(requestId);
      throw new TypeError(`The subscription did not end: ${JSON.stringify({ ...facts, log })}`, {
        cause: error,
      });
    } finally {
      clearTimeout(timer);
    }
    expect(text).toMatch(new RegExp(`"${status}".*\\s+event: complete`));
  }

  async function expectWorking(): Promise<void> {
    await expectNothingStored();
    const name = `good ${effects.length}`;
    const author = { name, email: "good@test.com" };
    const blog = { title: name, content: "good", authorId: "<<author.tool>>" };
    const plan = {
      steps: [
        { id: "author", tool: "createAuthor", arguments: author },
        { id: "blog", tool: "createBlog", arguments: blog },
      ],
    };
    const { body } = await client.graphql(SUBMIT, { plan }, headers);
    lastGood = body.data.submitPlan.requestId;
    await follow(lastGood, "COMPLETED");
    effects.push(
      { tool: "createAuthor", ...author },
      { tool: "createBlog", ...blog, authorId: "createAuthor" },
    );
    await expectReads();
    await expectEffects();
    expect(system.loggedProblems().filter((line) => !mayLog(line))).toEqual([]);
  }

  await expectWorking();
  return {
    ...client,
    url: system.apiUrl,
    mongodbUrl: system.mongodbUrl,
    store,
    post: (path, value, more = {}) =>
      client.send(path, {
        method: "POST",
        headers: { "content-type": "application/json", ...more.headers },
        body: expandMacros(JSON.stringify(value), more.ids),
      }),
    async play(name, run, leaves = "nothing", until = async () => undefined) {
      const expectStored = await watchStored(name, leaves);
      const result = await times.measure(name, run);
      await until(result);
      played += 1;
      await Promise.all([expectStored(), expectReads()]);
      if (played % CASES_BETWEEN_PLANS === 0) await expectWorking();
      return result;
    },
    follow,
    expectWorking,
    async close() {
      await expectNothingStored();
      process.stdout.write(`${file}: ${times.summary()}\n`);
      await system.close();
      await store.close();
      await mongo.close();
    },
  };
}
