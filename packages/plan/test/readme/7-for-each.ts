import assert from "node:assert/strict";
import { parsePlan, resolveReferences } from "@planwright/plan";

const parsed = parsePlan({
  steps: [
    { id: "people", tool: "listPeople" },
    {
      id: "letters",
      forEach: {
        items: "<<people.list>>",
        as: "person",
        key: "<<person.id>>",
        do: { tool: "send", arguments: { to: "<<person.mail>>", number: "<<index>>" } },
      },
    },
    { id: "count", tool: "note", arguments: { sent: "<<letters.summary.ok>>" } },
  ],
});
assert(parsed.ok);

const call = { tool: "send", arguments: { to: "<<item.mail>>" } };
const people = { id: "people", tool: "listPeople" };
assert.deepEqual(
  parsePlan([people, { id: "letters", ...call, forEach: "<<people.list>>" }]),
  parsePlan([people, { id: "letters", forEach: { items: "<<people.list>>", do: call } }]),
);

const scope = { person: { id: 7, mail: "a@b.co" }, index: 0 };
const { value } = resolveReferences({ to: "<<person.mail>>", number: "<<index>>" }, { outputs: {}, scope });
assert.deepEqual(value, { to: "a@b.co", number: 0 });
