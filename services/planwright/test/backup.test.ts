/** A backup that is made while a system works, restored elsewhere: every request is whole, and nothing acts unnamed. */
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { bundledServices, spawnService, startSystem, startWholeSystem } from "@planwright/testing";
import { type Db, MongoClient } from "mongodb";
import { expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { ask, find, startVault, submit, WAITING_REQUESTS } from "./stored-databases/waiting-requests.ts";

/** Asked for here: bundling stops this process, and a connection that it holds would end. */
bundledServices("operate");
const NamedSchema = z.array(z.object({ requestId: z.string() }));
const RestoredSchema = z.object({ paused: NamedSchema, notStarted: NamedSchema });

/** Runs a command of operators as a process. @returns what it printed */
async function operate(mongodbUrl: string, ...words: string[]): Promise<string> {
  const child = spawnService("operate", { MONGODB_URL: mongodbUrl }, words);
  const [out, err, [code]] = await Promise.all([
    text(child.stdout ?? expect.unreachable()),
    text(child.stderr ?? expect.unreachable()),
    once(child, "exit"),
  ]);
  expect({ code, err }).toEqual({ code: 0, err: "" });
  return out;
}

async function open(mongodbUrl: string): Promise<Db> {
  const client = await MongoClient.connect(mongodbUrl);
  onTestFinished(() => client.close());
  return client.db();
}

/** Submits small plans, one after another, until it is stopped. @returns their ids */
function load(system: { apiUrl: string }): { stop(): Promise<string[]> } {
  let isOver = false;
  const ids: string[] = [];
  const run = (async () => {
    for (let number = 0; !isOver; number += 1)
      ids.push(
        await submit(system, [
          { id: "a", tool: "keyed_effect", arguments: { value: `load ${number}` } },
          { id: "b", tool: "keyed_effect", arguments: { value: "<<a.value>> goes on" } },
        ]),
      );
  })();
  return {
    async stop() {
      isOver = true;
      await run;
      return ids;
    },
  };
}

const createPlan = async (system: { apiUrl: string }, execute: boolean): Promise<string> => {
  const document = `mutation { made: createPlan(query: "Make the effect", execute: ${execute}) { requestId } }`;
  const MadeSchema = z.object({ made: z.object({ requestId: z.string() }) });
  return MadeSchema.parse(await ask(system, document)).made.requestId;
};

const send = (system: { apiUrl: string }, mutation: "resume" | "executePlan" | "pause", id: string) =>
  ask(system, `mutation ($id: ID!) { ${mutation}(requestId: $id) { status } }`, { id });

const records = (db: Db, collection: string, requestId: string) =>
  db
    .collection(collection)
    .find(collection === "requests" ? { _id: requestId as never } : { requestId })
    .sort({ _id: 1 })
    .toArray();

test("a backup of a system at work is whole elsewhere, and nothing acts there before it is named", {
  timeout: 300_000,
}, async () => {
  const folder = await mkdtemp(join(tmpdir(), "planwright-backup-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const file = join(folder, "planwright.backup");

  const vault = await startVault();
  onTestFinished(() => vault.close());
  const source = { ...(await startWholeSystem(vault.system)), vault };
  onTestFinished(() => source.close());
  const planner = await source.startPlanner();
  const ids: Record<string, string> = {};
  for (const [what, { begin, waits }] of Object.entries(WAITING_REQUESTS)) {
    const id = await begin(source);
    ids[what] = id;
    if (what === "pause") {
      await expect.poll(async () => (await find(source, id)).plan?.waitReason).toBe("approval");
      await send(source, "pause", id);
    }
    await expect.poll(async () => waits(await find(source, id))).toBe(true);
  }
  const done = await submit(source, [{ id: "a", tool: "keyed_effect", arguments: { value: "done" } }]);
  await expect.poll(async () => (await find(source, done)).status).toBe("COMPLETED");
  source.tools.script({ read_value: [{ type: "hang" }] });
  const running = await submit(source, [
    { id: "a", tool: "keyed_effect", arguments: { value: "before" } },
    { id: "b", tool: "read_value", arguments: { value: "<<a.value>>" } },
    { id: "c", tool: "keyed_effect", arguments: { value: "<<b.value>> and after" } },
  ]);
  await expect.poll(async () => (await find(source, running)).plan?.steps[1]?.status).toBe("RUNNING");
  // No planner takes these two: one is accepted for execution, the other is ordered to be executed later.
  const gone = once(planner, "exit");
  planner.kill("SIGKILL");
  await gone;
  const accepted = await createPlan(source, true);
  const ordered = await createPlan(source, false);
  await send(source, "executePlan", ordered);

  const loaded = load(source);
  await operate(source.mongodbUrl, "backup", file);
  const afterwards = await submit(source, [{ id: "a", tool: "read_value", arguments: { value: "after" } }]);
  await loaded.stop();
  await source.close();

  let restored = RestoredSchema.parse({ paused: [], notStarted: [] });
  // The other machine has another key, so it cannot read the sign-in of the first.
  const target = {
    ...(await startSystem({
      ...vault.system,
      async fillDatabase(mongodbUrl) {
        restored = RestoredSchema.parse(JSON.parse(await operate(mongodbUrl, "restore", file, "--json")));
      },
    })),
    vault,
  };
  onTestFinished(() => target.close());
  const pausedIds = restored.paused.map(({ requestId }) => requestId);
  const { approval = "", doubt = "", retry = "", question = "", pause = "", "sign-in": signIn = "" } = ids;
  expect(pausedIds).toEqual(expect.arrayContaining([approval, doubt, retry, pause, signIn, running]));
  expect(pausedIds).not.toContain(done);
  expect(restored.notStarted.map(({ requestId }) => requestId).toSorted()).toEqual(
    [question, accepted, ordered].toSorted(),
  );

  const [from, to] = [await open(source.mongodbUrl), await open(target.mongodbUrl)];
  expect(await to.collection("requests").findOne({ _id: afterwards as never })).toBeNull();
  const restoredRequests = await to.collection("requests").find().toArray();
  expect(restoredRequests.length).toBeGreaterThan(8);
  let whole = 0;
  for (const { _id, status } of restoredRequests) {
    const requestId = String(_id);
    const isNamed = pausedIds.includes(requestId) || ["PLANNING", "NEEDS_INPUT"].includes(status);
    if (isNamed) continue;
    whole += 1;
    for (const collection of ["requests", "plans", "journal"])
      expect(await records(to, collection, requestId)).toEqual(await records(from, collection, requestId));
  }
  expect(whole).toBeGreaterThan(0);
  const outputs = await to.collection("outputs").find().toArray();
  for (const { _id, ...output } of outputs)
    expect(await from.collection("outputs").findOne({ _id })).toEqual({ _id, ...output });

  const plan = { steps: [{ id: "a", tool: "keyed_effect", arguments: { value: "planned" } }] };
  target.model.script(() => ({ type: "answer", text: JSON.stringify(plan) }));
  await target.startPlanner();
  // A plan whose calls had all ended needs no other one: it may end at once.
  const isHeld = (status?: string) => status === "PAUSED" || status === "COMPLETED";
  for (const id of pausedIds)
    await expect.poll(async () => isHeld((await find(target, id)).plan?.status)).toBe(true);
  for (const id of [approval, doubt, retry, pause, signIn, running])
    expect((await find(target, id)).plan?.status).toBe("PAUSED");
  for (const id of [accepted, ordered])
    await expect.poll(async () => (await find(target, id)).status).toBe("READY");
  // Decisions of people are taken, and still start nothing.
  for (const what of ["approval", "doubt", "question", "sign-in"]) {
    const id = ids[what] ?? "";
    await WAITING_REQUESTS[what]?.goOn(target, id, await find(target, id));
  }
  await expect
    .poll(async () => (await find(target, doubt)).plan)
    .toMatchObject({ status: "PAUSED", steps: [{ status: "COMPLETED" }, { status: "PENDING" }] });
  await expect.poll(async () => (await find(target, question)).status).toBe("READY");
  expect([...(await target.tools.ledger()), ...(await vault.ledger())]).toEqual([]);

  const waiting = await find(target, pause);
  await WAITING_REQUESTS["pause"]?.goOn(target, pause, waiting);
  for (const id of pausedIds)
    if ((await find(target, id)).plan?.status === "PAUSED" && id !== pause) await send(target, "resume", id);
  for (const id of [question, accepted, ordered]) await send(target, "executePlan", id);
  for (const { _id } of restoredRequests)
    await expect.poll(async () => (await find(target, String(_id))).status).toBe("COMPLETED");
  const effects = (await target.tools.ledger()).map((entry) => entry.arguments["value"]);
  expect(effects).toContain("before and after");
  expect(effects).not.toContain("before");
  expect(effects).not.toContain("done");
  // Plans that the executor of the backup held are taken from it; the vault is told about until a person signs in.
  const isExpected = (line: string) => line.includes("plan taken over") || line.includes('"server":"vault"');
  const problems = target.loggedProblems().filter((line) => !isExpected(line));
  expect(problems).toEqual([]);
});
