import { type JsonObject, parsePlan, printPlan, type ToolDescriptor, validatePlan } from "@planwright/plan";
import { readModelAnswer } from "@planwright/reading";
import fc from "fast-check";
import { describe, expect, test } from "vitest";

const text = { type: "string" };
const CITY = "Code of the city: '1' is Bangkok, '2' is New York, '3' is New Delhi";
const TOOLS: readonly ToolDescriptor[] = [
  {
    name: "book",
    inputSchema: {
      type: "object",
      properties: {
        day: text,
        phone: text,
        name: text,
        email: text,
        address: text,
        city_id: { type: "string", description: CITY },
        zone_id: { type: "integer", description: "Bangkok (66), New York (1) and New Delhi = 91" },
        kind_id: { type: "string", description: "A - one way; B - return; C: open jaw" },
        seat_id: { type: "string", description: "1 = window 2 = aisle" },
        body: text,
      },
      required: ["day", "phone", "name", "email"],
    },
  },
];

const read = (query: string, args: JsonObject) =>
  readModelAnswer(JSON.stringify([{ tool: "book", arguments: args }]), { tools: TOOLS, query });

/** Errors for one value; the request gives all other values. */
function errorsOf(query: string, field: string, value: string | number): string[] {
  const given: JsonObject = { day: "soon", phone: "0000", name: "Ann", email: "ann@corp.com" };
  const said = `${query}. Soon, Ann, ann@corp.com, 0000`;
  const { diagnostics } = read(said, { ...given, [field]: value });
  return diagnostics.flatMap(({ code, severity, path = "" }) =>
    severity === "error" ? [`${code} ${path.split(".").at(-1)}`] : [],
  );
}

const DAY = [
  "2022-05-12",
  "05-12-2022",
  "12-05-2022",
  "5/12/2022",
  "12.05.2022",
  "12.5.2022",
  "2022/05/12",
  "2022.05.12",
  "20220512",
  "May 12, 2022",
  "May 12 2022",
  "12 May 2022",
  "12 may 2022",
  "12th May 2022",
];

describe("a date that the request gives", () => {
  test.each(DAY.flatMap((said) => DAY.map((value) => [said, value])))(
    "as %s may be written %s",
    (said, value) => {
      expect(errorsOf(`Book it for ${said}`, "day", value)).toEqual([]);
    },
  );

  test.each([
    ["2022-05-12T10:30:00Z", "12 May 2022 at 10:30"],
    ["12.05.2022 10:30", "May 12, 2022 at 10:30"],
    ["05-12-2022 - 05-14-2022", "from May 12, 2022 to May 14, 2022"],
    ["2022-05", "in May 2022"],
    ["20220512", "2022年5月12日に予約"],
  ])("%s is no phone number where it says %s", (value, said) => {
    expect(errorsOf(`Book it ${said}`, "day", value)).toEqual([]);
  });

  test.each(["+49 30 1234567", "030 1234-567", "99999999", "555-0199-22"])(
    "%s is still a phone number, and invented",
    (value) => {
      expect(errorsOf("Book it for 2022-05-12", "phone", value)).toEqual(["ARGUMENT_UNSOURCED phone"]);
      expect(errorsOf(`Book it, phone ${value}`, "phone", value)).toEqual([]);
    },
  );

  test("is invented when the request has no day and no number", () => {
    const args = { day: "20220512", phone: "call me", name: "Ann", email: "ann@corp.com" };
    const { diagnostics } = read("Book it for Ann, ann@corp.com, call me", args);
    expect(diagnostics).toMatchObject([
      { code: "ARGUMENT_UNSOURCED", severity: "error", path: "steps[0].arguments.day" },
    ]);
  });

  // `npm test` draws a tenth, `npm run proof` others.
  for (const { numRuns, options } of [
    { numRuns: 30, options: {} },
    { numRuns: 270, options: { tags: ["proof"] } },
  ])
    test("is the same in all forms for every day", options, () => {
      const date = fc.date({ min: new Date("1970-01-01"), max: new Date("2090-12-31"), noInvalidDate: true });
      const form = fc.integer({ min: 0, max: 5 });
      const write = (day: Date, how: number): string => {
        const [year = "", month = "", of = ""] = day.toISOString().slice(0, 10).split("-");
        const name = day.toLocaleString("en-US", { month: "long", timeZone: "UTC" });
        const forms = [
          `${year}-${month}-${of}`,
          `${of}.${month}.${year}`,
          `${month}-${of}-${year}`,
          `${year}${month}${of}`,
          `${name} ${Number(of)}, ${year}`,
          `${Number(of)} ${name} ${year}`,
        ];
        return forms[how] ?? "";
      };
      fc.assert(
        fc.property(date, form, form, (day, said, written) => {
          expect(errorsOf(`Book it for ${write(day, said)}`, "day", write(day, written))).toEqual([]);
        }),
        { numRuns },
      );
    });
});

describe("values next to a script without spaces", () => {
  test.each([
    ["给张伟发邮件", "name", "张伟"],
    ["请为Alice预订", "name", "Alice"],
    ["田中さんに送って", "name", "田中"],
    ["김철수에게 보내줘", "name", "김철수"],
    ["发到bob@corp.io吧", "email", "bob@corp.io"],
    ["bob@corp.ioに送って", "email", "bob@corp.io"],
    ["bob@corp.io로 보내줘", "email", "bob@corp.io"],
    ["电话13800138000。", "phone", "13800138000"],
    ["请拨打13800138000预订", "phone", "13800138000"],
    ["住址是北京市朝阳区建国路88号的人", "address", "北京市朝阳区建国路88号"],
    ["ส่งให้Somchaiวันนี้", "name", "Somchai"],
    ["Забронируй на Aliceу", "name", "Alice"],
  ])("%s gives %s %s", (query, field, value) => {
    expect(errorsOf(query, field, value)).toEqual([]);
  });

  test.each([
    ["给张伟发邮件", "email", "zhang@corp.io"],
    ["发到bob@corp.io吧", "email", "ob@corp.io"],
    ["请拨打13800138000预订", "phone", "3800138000"],
    ["Call 12345678", "phone", "1234567"],
    ["Позвони Ивановой", "phone", "1234567"],
  ])("%s does not give %s %s", (query, field, value) => {
    expect(errorsOf(query, field, value)).toEqual([`ARGUMENT_UNSOURCED ${field}`]);
  });
});

describe("a code that the description of its parameter explains", () => {
  test.each<[string, string, string | number]>([
    ["Book Bangkok", "city_id", "1"],
    ["Book a flight to New York", "city_id", "2"],
    ["book new delhi", "city_id", "3"],
    ["Book Bangkok", "zone_id", 66],
    ["Book New York", "zone_id", 1],
    ["Book New Delhi", "zone_id", 91],
    ["Book a one way trip", "kind_id", "A"],
    ["Book a return trip", "kind_id", "B"],
    ["Book it open jaw", "kind_id", "C"],
    ["A window seat", "seat_id", "1"],
    ["An aisle seat", "seat_id", "2"],
  ])("%s gives %s %j", (query, field, value) => {
    expect(errorsOf(query, field, value)).toEqual([]);
  });

  test.each<[string, string, string | number]>([
    ["Book Bangkok", "city_id", "2"],
    ["Book New York", "city_id", "3"],
    ["Book Bangkok", "city_id", "4"],
    ["Book Berlin", "city_id", "1"],
    ["Book the city", "city_id", "1"],
    ["Book Bangkok", "zone_id", 91],
    ["Book Bangkok", "phone", "66"],
    ["Book a return trip", "kind_id", "C"],
    ["A window seat", "seat_id", "2"],
  ])("%s does not give %s %j", (query, field, value) => {
    expect(errorsOf(query, field, value)).toEqual([`ARGUMENT_UNSOURCED ${field}`]);
  });
});

describe("a literal in the request", () => {
  test.each(["YOUR_API_KEY", "<title>", "[INSERT NAME]", "TODO", "${name}", "extracted", "your-api-key"])(
    "%s is accepted by every later check",
    (value) => {
      const query = `Book it soon for Ann, ann@corp.com, 0000, with the text ${value}`;
      const args = { day: "soon", phone: "0000", name: "Ann", email: "ann@corp.com", body: value };
      const answer = read(query, args);
      if (!answer.ok) throw new Error(JSON.stringify(answer.diagnostics));
      expect(answer.plan.literals).toEqual([value]);
      expect(validatePlan(answer.plan, TOOLS)).toEqual([]);
      expect(parsePlan(printPlan(answer.plan), { tools: TOOLS })).toEqual({
        ok: true,
        plan: answer.plan,
        diagnostics: [],
      });
      expect(read("Book it soon for Ann, ann@corp.com, 0000", args).ok).toBe(false);
    },
  );

  test("cannot be declared by a model", () => {
    const answer = {
      steps: [
        { tool: "book", arguments: { day: "soon", phone: "0000", name: "TODO", email: "ann@corp.com" } },
      ],
      literals: ["TODO"],
    };
    const { ok, diagnostics } = readModelAnswer(JSON.stringify(answer), {
      tools: TOOLS,
      query: "Book it soon, ann@corp.com, 0000",
    });
    expect(ok).toBe(false);
    expect(diagnostics.map(({ code }) => code)).toEqual(["FIELD_IGNORED", "ARGUMENT_PLACEHOLDER"]);
  });
});

test("a placeholder that its schema lists is a value", () => {
  const status = { enum: ["todo", "done"] };
  const moved: ToolDescriptor = {
    name: "move",
    inputSchema: {
      type: "object",
      properties: { to: status, all: { type: "array", items: status }, mark: { const: "TBD" }, note: text },
    },
  };
  const codes = (args: JsonObject) =>
    parsePlan([{ tool: "move", arguments: args }], { tools: [moved] }).diagnostics.map(({ path }) => path);
  expect(codes({ to: "todo", all: ["done", "todo"], mark: "TBD" })).toEqual([]);
  expect(codes({ to: "todo", note: "todo" })).toEqual(["steps[0].arguments.note"]);
  const each = { items: [1], do: { tool: "move", arguments: { to: "todo" } } };
  expect(parsePlan([{ id: "each", forEach: each }], { tools: [moved] }).diagnostics).toEqual([]);
});

test("an answer with an ellipsis is marked as elided, one that was cut off is not", () => {
  const options = { tools: TOOLS, query: "Book it" };
  const call = '{"tool":"book","arguments":{"day":"soon"}}';
  for (const left of [`[${call}, ...]`, `[${call}, "..."]`, `[${call} // and so on\n]`])
    expect(readModelAnswer(left, options)).toMatchObject({ ok: false, elided: true });
  for (const [cut, finishReason] of [
    [`[${call},`, "stop"],
    [`[${call}]`, "length"],
  ])
    expect(readModelAnswer(cut ?? "", { ...options, finishReason })).not.toHaveProperty("elided");
});
