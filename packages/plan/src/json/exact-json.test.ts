import { fc, test as property } from "@fast-check/vitest";
import { describe, expect, test } from "vitest";
import {
  compareNumbers,
  digitsOf,
  exactNumberOf,
  isExactNumber,
  isMultipleOf,
  isWholeNumber,
  markNumbers,
  parseExactJson,
  stringifyExactJson,
  unmarkNumbers,
} from "./exact-json.ts";

const CHANGED = [
  "7205759403792793601",
  "1727748012349816833",
  "-1001234567890123456789",
  "9007199254740993",
  "-9223372036854775808",
  "18446744073709551616",
  "123456789012345678901234567890",
  "0.1234567890123456789",
  "1e400",
  "-1E+400",
  "1e-400",
  "1.00000000000000000001e5",
  "9007199254740992.5",
];
const KEPT: [string, string][] = [
  ["0", "0"],
  ["-0", "0"],
  ["1.0", "1"],
  ["1e3", "1000"],
  ["1E+2", "100"],
  ["19.99", "19.99"],
  ["9007199254740991", "9007199254740991"],
  ["9007199254740992", "9007199254740992"],
  ["100000000000000000000", "100000000000000000000"],
  ["0.30000000000000004", "0.30000000000000004"],
  ["1.7976931348623157e308", "1.7976931348623157e+308"],
  ["0.00000000000000000012", "1.2e-19"],
  ["1.2300000000000000000000", "1.23"],
];

describe("JSON with numbers that a double would change", () => {
  test.each(CHANGED)("%s keeps its digits in any place", (digits) => {
    for (const text of [digits, ` ${digits}\n`, `[${digits}]`, `{"a":[1,{"b":${digits}}],"c":"${digits}"}`]) {
      expect(stringifyExactJson(parseExactJson(text))).toBe(text.trim());
    }
    expect(isExactNumber(parseExactJson(digits))).toBe(true);
  });

  test.each(KEPT)("%s is a plain number", (text, printed) => {
    expect(markNumbers(text)).toBe(text);
    expect(typeof parseExactJson(text)).toBe("number");
    expect(stringifyExactJson(parseExactJson(text))).toBe(printed);
  });

  test.each([
    ['"7205759403792793601"', "digits in quotes"],
    ['"id: 7205759403792793601, 1e400"', "digits inside of a text"],
    ['"\\\\\\"7205759403792793601"', "digits after an escaped quote"],
    ['{"7205759403792793601":1,"1e400" : 2}', "digits as a name"],
  ])("%s stays as it is: %s", (text) => {
    expect(markNumbers(text)).toBe(text);
  });

  test.each(["[7205759403792793601", "7205759403792793601.", "07205759403792793601", '{"a":1e400,}', '"'])(
    "%s is refused as JSON.parse refuses it",
    (text) => {
      const message = (parse: (text: string) => unknown) => {
        try {
          return parse(text);
        } catch (error) {
          return String(error);
        }
      };
      expect(message(parseExactJson)).toBe(message(JSON.parse));
    },
  );

  test.each([
    ["short", "x"],
    ["long", `say \\"7205759403792793601\\" and \\\\ ${"words ".repeat(100)}`],
  ])("among many %s texts each number that a double would change is found, and texts stay", (_, text) => {
    const items = Array.from({ length: 200 }, (_item, index) =>
      index === 150 ? "7205759403792793601" : index === 190 ? "1e400" : `"${text}"`,
    );
    const json = `[${items.join(",")}]`;
    expect(stringifyExactJson(parseExactJson(json))).toBe(json);
    expect(markNumbers(json.replace("7205759403792793601,", "1,").replace("1e400", "1"))).not.toContain(
      "\uFDD0",
    );
  });

  test("the digits of a huge text, and its quotes, are read once", () => {
    for (const part of ['"\\\\\\"",', "1234567890123456,", '"12345678901234567890",', "9".repeat(50)]) {
      const text = `["",${part.repeat(1_000_000 / part.length)}0, 1e400]`;
      // Read more than once, each text would take longer than a test may.
      expect(markNumbers(text).length).toBeGreaterThanOrEqual(text.length);
    }
  });
});

describe("a text of outsiders is never a number", () => {
  test.each([
    ["\uFDD05"],
    ["\uFDD07205759403792793601"],
    ["\uFDD0\uFDD01e400"],
    ["\uFDD0"],
    ["\uFDD0abc"],
    ["a\uFDD05"],
    ['"\uFDD05"'],
    ['\\"\uFDD05"'],
  ])("%j", (text) => {
    for (const json of [
      JSON.stringify([text]),
      JSON.stringify([text, 1]).replaceAll("\uFDD0", "\\uFdD0"),
      JSON.stringify({ [text]: text }),
      JSON.stringify({ [text]: text }, null, 2),
    ]) {
      const value = parseExactJson(json);
      expect(Object.values(Object(value)).some(isExactNumber)).toBe(false);
      expect(JSON.parse(stringifyExactJson(value))).toEqual(JSON.parse(json));
    }
  });
});

/** Numbers as any program may write them. */
const digits = (min: number, max: number) => fc.stringMatching(new RegExp(`^[1-9][0-9]{${min},${max}}$`));
const numbers = fc
  .tuple(
    fc.constantFrom("", "-"),
    digits(0, 30),
    fc.option(fc.stringMatching(/^[0-9]{0,25}[1-9]$/)),
    fc.option(fc.integer({ min: -400, max: 400 })),
  )
  .map(([sign, whole, part, power]) => `${sign}${whole}${part ? `.${part}` : ""}${power ? `e${power}` : ""}`);
const texts = fc.oneof(
  fc.string({ unit: "binary" }),
  numbers,
  fc.constantFrom("\uFDD01", "\uFDD0\uFDD01e9", '"', "\\"),
);
/** JSON text whose numbers stand as they are written. */
const documents = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    numbers,
    texts.map((text) => JSON.stringify(text)),
    tie("list"),
    tie("object"),
  ),
  list: fc.array(tie("value"), { maxLength: 4 }).map((items) => `[${items.join(" , ")}]`),
  object: fc
    .uniqueArray(fc.tuple(texts, tie("value")), { maxLength: 4, selector: ([name]) => name })
    .map(
      (fields) =>
        `{${fields.map(([name, value]) => `${JSON.stringify(name)} : ${String(value)}`).join(",")}}`,
    ),
})).value as fc.Arbitrary<string>;

/** The tokens of a JSON text; numbers as sign, digits and power of ten. */
function tokensOf(text: string): string[] {
  return [...text.matchAll(/"(?:[^"\\]|\\.)*"|-?[0-9][0-9.eE+-]*|[[\]{},:]/g)].map(([token]) => {
    const [, sign, whole = "", part = "", power = "0"] =
      /^(-?)([0-9]+)(?:\.([0-9]+))?(?:[eE]([+-]?[0-9]+))?$/.exec(token) ?? [];
    if (sign === undefined) return token.startsWith('"') ? JSON.stringify(JSON.parse(token)) : token;
    const all = `${whole}${part}`.replace(/^0+/, "");
    const kept = all.replace(/0+$/, "");
    return `${sign}${kept}e${Number(power) - part.length + all.length - kept.length}`;
  });
}

property.prop([documents])("reading and writing any JSON keeps each number digit for digit", (text) => {
  expect(tokensOf(stringifyExactJson(parseExactJson(text)))).toEqual(tokensOf(text));
  expect(tokensOf(unmarkNumbers(markNumbers(text)))).toEqual(tokensOf(text));
});

property.prop([numbers, numbers])("numbers compare as decimal numbers", (left, right) => {
  const [one, other] = [exactNumberOf(left), exactNumberOf(right)];
  const scaled = (text: string) => {
    const [mantissa = "", power = "0"] = text.split("e");
    const [whole = "", part = ""] = mantissa.split(".");
    return BigInt(whole + part) * 10n ** BigInt(Number(power) - part.length + 500);
  };
  const expected = scaled(left) < scaled(right) ? -1 : scaled(left) > scaled(right) ? 1 : 0;
  expect(Math.sign(compareNumbers(one, other))).toBe(expected);
  expect(compareNumbers(one, one)).toBe(0);
});

test.each([
  ["9007199254740993", "9007199254740992", 1],
  ["9007199254740993", "9007199254740993.0", 0],
  ["-9223372036854775809", "-9223372036854775808", -1],
  ["1e400", "1e399", 1],
  ["-1e400", "0", -1],
  ["0.1234567890123456789", "0.1234567890123456788", 1],
])("%s against %s is %d", (left, right, order) => {
  expect(Math.sign(compareNumbers(exactNumberOf(left), exactNumberOf(right)))).toBe(order);
});

test.each([
  ["9007199254740993", true],
  ["9007199254740993.0", true],
  ["9007199254740993.5", false],
  ["1e400", true],
  ["1e-400", false],
  ["1.5e400", true],
])("%s is a whole number: %s", (text, isWhole) => {
  const number = exactNumberOf(text);
  expect(isWholeNumber(number)).toBe(isWhole);
  expect(digitsOf(number)).toBe(text);
});

test.each([
  ["19.99", "0.01", true],
  ["19.995", "0.01", false],
  ["9007199254740993", "2", false],
  ["9007199254740994", "2", true],
  ["-7205759403792793602", "2", true],
  ["0", "0.1", true],
  ["1e400", "2", true],
  ["1e5000", "3", true],
])("%s is a multiple of %s: %s", (value, divisor, isMultiple) => {
  expect(isMultipleOf(exactNumberOf(value), exactNumberOf(divisor))).toBe(isMultiple);
});
