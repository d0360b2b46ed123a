import type { DraftError } from "@planwright/models";
import { nameTools } from "@planwright/plan";
import { expect, test } from "vitest";
import { tool } from "../../models/test/catalogues/tool.ts";
import { planByRules } from "../src/index.ts";

const on = (server: string) => ({
  ...tool("createFolder", "Creates a folder.", { name: "string", "place?": "string" }),
  server,
});
const tools = nameTools([on("notebook"), on("my-wiki 2")]);

test("when two servers offer a tool, the sentence is refused, and the refusal says how to choose", () => {
  expect(() => planByRules("Create folder Work", tools)).toThrow(
    expect.objectContaining<Partial<DraftError>>({
      code: "NOT_UNDERSTOOD",
      message: expect.stringContaining(
        'it fits several tools: notebook/createFolder, my-wiki_2/createFolder; end it with the server, as in "on notebook"',
      ),
    }),
  );
});

test.each([
  ["Create folder Work on my-wiki 2", "my-wiki_2/createFolder", "Work"],
  ["Create a folder named Work on the my wiki 2 server", "my-wiki_2/createFolder", "Work"],
  ['Create a folder named "Work on notebook" on my-wiki 2', "my-wiki_2/createFolder", "Work on notebook"],
  ["Create folder Work via the notebook", "notebook/createFolder", "Work"],
])("%s chooses the server", (query, name, folder) => {
  expect(planByRules(query, tools).steps).toEqual([
    { id: "createFolder", tool: name, arguments: { name: folder } },
  ]);
});

test("a server is no argument of a tool that only one server offers", () => {
  expect(() => planByRules("Create a folder named Work on notebook", [on("notebook")])).toThrow(
    "on notebook",
  );
});
