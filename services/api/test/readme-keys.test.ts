import { afterAll, beforeAll, expect, test } from "vitest";
import { parseKeysCommand, runKeysCommand } from "../src/access/keys-command.ts";
import { bodiesWithKey, keysCommands } from "./readme-examples.ts";
import { type RunningApi, startTestApi } from "./running-api.ts";

let running: RunningApi;
beforeAll(async () => {
  running = await startTestApi({ anonymous: "refuse" });
});
afterAll(() => running.close());

test("the commands for keys and tenants work, and so does the created key", async () => {
  expect(keysCommands.map((args) => args.split(" ")[0])).toEqual([
    "create",
    "list",
    "revoke",
    "tenant",
    "tenant",
    "tenant",
    "tenant",
    "tenant",
  ]);
  expect(bodiesWithKey).toHaveLength(1);
  const printed: string[] = [];
  const output = { print: (text: string) => void printed.push(text), say: () => undefined };
  let id = "";
  const ask = (authorization: string) =>
    running.send("/graphql", {
      method: "POST",
      headers: { "content-type": "application/json", authorization },
      body: bodiesWithKey[0] ?? "",
    });
  for (const args of keysCommands) {
    if (args.startsWith("revoke")) {
      expect((await ask(`Bearer ${printed[0]}`)).body).toEqual({ data: { requests: { nodes: [] } } });
    }
    const command = parseKeysCommand(args.replace(/key_[a-z]+/, id).split(" "), Date.now());
    await runKeysCommand(command!, running.store, output);
    id ||= (await running.store.listApiKeys())[0]?._id ?? "";
  }
  expect(printed[1]).toContain(id);
  expect((await running.store.listApiKeys())[0]?.revokedAt).toBeInstanceOf(Date);
});
