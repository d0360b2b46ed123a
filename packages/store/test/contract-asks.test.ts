import {
  type ContractAnswer,
  type ContractAsk,
  createStore,
  type NewContractAsk,
  type Store,
  type ToolServerReport,
} from "@planwright/store";
import { testServers } from "@planwright/testing";
import { afterEach, beforeEach, expect, test } from "vitest";

const REPORT: ToolServerReport = {
  server: "shop",
  state: "connected",
  tools: 2,
  error: null,
  stderrTail: null,
  since: new Date(0),
  nextAttemptAt: null,
  executor: "e1",
};
const ASK: NewContractAsk = { tenant: "t1", digest: "a", planners: ["p1", "p2"] };
const ANSWER: ContractAnswer = { model: "openai:x", proposals: "[]", asked: 2, unusable: 0, error: null };
const FAILED = { ...ANSWER, asked: 0, error: { code: "MODEL_TIMEOUT", message: "late" } };

let store: Store;
beforeEach(async () => {
  store = await createStore({ url: testServers().mongodbUrl });
  await store.publishServer(REPORT);
});
afterEach(() => store.close());

const ask = async (more: Partial<NewContractAsk> = {}): Promise<ContractAsk> => {
  const asked = await store.askContracts("shop", { ...ASK, ...more });
  if (!asked) throw new TypeError("the server is not known");
  return asked;
};
const take = async (planner = "p1") => {
  const taken = await store.takeContractAsk(planner);
  if (!taken) throw new TypeError("nothing to take");
  return taken;
};

test("one planner takes a question, and operators get the same answer", async () => {
  expect(await store.takeContractAsk("p1")).toBeNull();
  const { id } = await ask();
  expect(id).toMatch(/^contracts_\d+_[a-z\d]{32}$/);
  const taken = await take();
  expect(taken).toMatchObject({ server: "shop", ask: { id, tenant: "t1", takenBy: "p1" } });
  expect(await store.takeContractAsk("p2")).toBeNull();
  expect((await ask({ tenant: "t2" })).id).toBe(id);
  await store.answerContracts(taken, ANSWER);
  await store.answerContracts(taken, FAILED);
  expect(await ask()).toMatchObject({ id, answer: ANSWER });
  expect(await store.readContractAsk("shop")).toMatchObject({ id, answer: ANSWER });
  expect(await store.takeContractAsk("p2")).toBeNull();
  // The state of the connection does not replace it, and readers of servers do not load it.
  await store.publishServer(REPORT);
  expect((await ask()).id).toBe(id);
  expect((await store.toolServers())[0]).not.toHaveProperty("contractAsk");
});

test.each<[string, ContractAnswer | null, Partial<NewContractAsk>]>([
  ["for other tools", ANSWER, { digest: "b" }],
  ["after a failure", FAILED, {}],
  ["after the death of its planner", null, { planners: ["p2"] }],
])("%s the model is asked anew, and the earlier planner answers no more", async (_, answer, more) => {
  const { id } = await ask();
  const taken = await take();
  if (answer) await store.answerContracts(taken, answer);
  const again = await ask(more);
  expect(again).toMatchObject({ takenBy: null, answer: null });
  expect(again.id).not.toBe(id);
  await store.answerContracts(taken, ANSWER);
  expect(await store.readContractAsk("shop")).toEqual(again);
  expect((await take("p2")).ask.id).toBe(again.id);
});

test("a server that no executor has reported is not asked about", async () => {
  expect(await store.askContracts("toString", ASK)).toBeNull();
  expect(await store.readContractAsk("toString")).toBeNull();
});
