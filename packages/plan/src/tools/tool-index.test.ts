import fc from "fast-check";
import { expect, test } from "vitest";
import { createToolIndex, findRelatedTool, findServerTool, findTool, nameTools } from "./tool-descriptor.ts";

const NAMES = ["a", "b", "x/a", "y/a", "a-2", "constructor"];
const SERVERS = [undefined, "x", "y"];
const tool = fc.record({ name: fc.constantFrom(...NAMES), server: fc.constantFrom(...SERVERS) });

test("an index finds the same tools as a scan of the catalogue", () => {
  fc.assert(
    fc.property(fc.array(tool), fc.boolean(), (list, isNamed) => {
      const tools = isNamed ? nameTools(list) : list;
      const index = createToolIndex(tools);
      for (const name of [...NAMES, "z/a", "", "__proto__"]) {
        expect(index.find(name)).toBe(findTool(tools, name));
        for (const server of SERVERS)
          expect(index.findOfServer(server, name)).toBe(findServerTool(tools, server, name));
        for (const each of tools)
          expect(index.findRelated(each, name)).toBe(findRelatedTool(tools, each, name));
      }
    }),
  );
});

test("a name in a contract means the tool of the same server, else the result of findTool", () => {
  const tools = nameTools([
    { name: "login", server: "x" },
    { name: "login", server: "y" },
    { name: "pay", server: "x" },
    { name: "log", server: "y" },
    { name: "ask", server: "z" },
  ]);
  const [, , pay, , ask] = tools;
  expect(findRelatedTool(tools, pay!, "login")).toMatchObject({ name: "x/login" });
  expect(findRelatedTool(tools, pay!, "log")).toMatchObject({ server: "y" });
  expect(findRelatedTool(tools, pay!, "y/login")).toMatchObject({ name: "y/login" });
  expect(findRelatedTool(tools, ask!, "login")).toBeUndefined();
});
