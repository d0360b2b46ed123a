import { readFileSync } from "node:fs";
import { afterAll, beforeAll, expect, test } from "vitest";
import { parseKeysCommand, runKeysCommand } from "../src/access/keys-command.ts";
import { type RunningApi, startTestApi } from "./running-api.ts";

const readme = readFileSync(new URL("../README.md", import.meta.url), "utf8");
const section = readme.split(/^## /m).find((text) => text.startsWith("Who may do what")) ?? "";

let running: RunningApi;
beforeAll(async () => {
  running = await startTestApi({ anonymous: "refuse" });
});
afterAll(() => running.close());

test("the commands for keys work as the section writes them, and so does the key that one of them makes", async () => {
  const commands = [...section.matchAll(/^npm run -s keys -- (.+)$/gm)].map(([, words = ""]) => words);
  expect(commands.map((words) => words.split(" ")[0])).toEqual(["create", "list", "revoke"]);
  const bodies = [...section.matchAll(/^curl .*Bearer \$PLANWRIGHT_API_KEY" .* -d '(.*)'$/gm)].map(
    ([, body = ""]) => body,
  );
  expect(bodies).toHaveLength(1);
  const printed: string[] = [];
  const output = { print: (text: string) => void printed.push(text), say: () => undefined };
  let id = "";
  const ask = (authorization: string) =>
    running.send("/graphql", {
      method: "POST",
      headers: { "content-type": "application/json", authorization },
      body: bodies[0] ?? "",
    });
  for (const words of commands) {
    if (words.startsWith("revoke")) {
      expect((await ask(`Bearer ${printed[0]}`)).body).toEqual({ data: { requests: { nodes: [] } } });
    }
    const command = parseKeysCommand(words.replace(/key_[a-z]+/, id).split(" "), Date.now());
    await runKeysCommand(command!, running.store, output);
    id ||= (await running.store.listApiKeys())[0]?._id ?? "";
  }
  expect(printed[1]).toContain(id);
  expect((await running.store.listApiKeys())[0]?.revokedAt).toBeInstanceOf(Date);
});
