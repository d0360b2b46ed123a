import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { findTool, nameTools, type ToolDescriptor } from "./tool-descriptor.ts";

/** `server:tool`, or a tool without a server. */
const read = (texts: readonly string[]): ToolDescriptor[] =>
  texts.map((text) => {
    const [server, name] = text.includes(":") ? text.split(":") : [undefined, text];
    return { name: name ?? "", ...(server === undefined ? {} : { server }) };
  });

describe("nameTools", () => {
  test.each([
    ["unique names stay", ["x:a", "y:b"], ["a", "b"]],
    ["a name of several servers is qualified for each", ["x:a", "y:a", "y:b"], ["x/a", "y/a", "b"]],
    ["three servers", ["x:a", "y:a", "z:a"], ["x/a", "y/a", "z/a"]],
    ["a tool without a server keeps its name", ["a", "x:a"], ["a", "x/a"]],
    ["a tool listed twice by one server is kept once", ["x:a", "x:a"], ["a"]],
    ["a tool listed twice without a server is kept once", ["a", "a", "b"], ["a", "b"]],
    ["server names become what plans allow", ["my server:a", "ümlaut:a"], ["my_server/a", "_mlaut/a"]],
    ["servers whose names become the same are numbered", ["a b:t", "a_b:t"], ["a_b/t", "a_b/t-2"]],
    [
      "a tool whose own name looks qualified is qualified too",
      ["x:a", "y:a", "z:x/a"],
      ["x/a", "y/a", "z/x/a"],
    ],
    ["a name with a slash is qualified", ["x:n/a", "n/b"], ["x/n/a", "n/b"]],
    ["names that are already qualified stay", ["x:x/a", "y:y/a"], ["x/a", "y/a"]],
    ["a qualified name stays when the other server is removed", ["x:x/a"], ["x/a"]],
    ["a new tool is qualified next to a qualified one", ["x:x/a", "y:a"], ["x/a", "y/a"]],
    ["built-in member names are ordinary", ["x:constructor", "y:__proto__"], ["constructor", "__proto__"]],
    ["no tools", [], []],
  ])("%s", (_, tools, names) => {
    expect(nameTools(read(tools)).map(({ name }) => name)).toEqual(names);
  });

  test("of a tool that one server lists twice the later definition counts, at the first position", () => {
    const named = nameTools([
      { name: "a", server: "x", description: "old" },
      { name: "b", server: "x" },
      { name: "a", server: "x", description: "new" },
    ]);
    expect(named.map(({ name, description }) => [name, description])).toEqual([
      ["a", "new"],
      ["b", undefined],
    ]);
  });

  test("keeps everything else and changes nothing in place", () => {
    const tools = read(["x:a", "y:a"]).map((tool) => Object.freeze({ ...tool, description: tool.server }));
    expect(nameTools(Object.freeze(tools))).toEqual([
      { name: "x/a", server: "x", description: "x" },
      { name: "y/a", server: "y", description: "y" },
    ]);
  });

  const tools = fc.array(
    fc.record({
      name: fc.constantFrom("a", "b", "x/a", "x/x/a"),
      server: fc.option(fc.constantFrom("x", "y", "x y"), { nil: undefined }),
    }),
  );
  test("names are unique, each tool findable by its own, and naming again changes nothing", () => {
    fc.assert(
      fc.property(tools, (list) => {
        const named = nameTools(list);
        expect(new Set(named.map(({ name }) => name)).size).toBe(named.length);
        for (const tool of named) expect(findTool(named, tool.name)).toBe(tool);
        expect(nameTools(named)).toEqual(named);
      }),
    );
  });
});

describe("findTool", () => {
  const tools = nameTools(read(["x:a", "y:a", "x:b", "c", "deep:n/a"]));
  test.each([
    ["x/a", "x", "x/a"],
    ["y/a", "y", "y/a"],
    ["b", "x", "b"],
    ["x/b", "x", "b"],
    ["c", undefined, "c"],
    ["n/a", "deep", "deep/n/a"],
    ["deep/n/a", "deep", "deep/n/a"],
  ])("%s is the one of server %s", (name, server, found) => {
    expect(findTool(tools, name)).toMatchObject({ name: found, ...(server ? { server } : {}) });
  });

  test.each(["a", "y/b", "z/a", "", "undefined/c", "A", "toString"])("%j finds no tool", (name) => {
    expect(findTool(tools, name)).toBeUndefined();
  });

  test("a short name finds the only remaining tool with it", () => {
    expect(findTool(read(["x:x/a"]), "a")).toMatchObject({ name: "x/a" });
  });
});
