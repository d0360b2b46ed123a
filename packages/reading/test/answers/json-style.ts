import type { JsonValue } from "@planwright/plan";

/** A style of JSON, with typical defects of models. */
export interface JsonStyle {
  readonly indent?: boolean;
  readonly quotes?: "single" | "single-raw" | "curly";
  /** A comma after the last item. */
  readonly trailingCommas?: boolean;
  /** No commas at the ends of lines. */
  readonly noCommas?: boolean;
  readonly comments?: "//" | "/*" | "#";
  /** Names without quotes if JavaScript allows it. */
  readonly bareNames?: boolean;
  readonly pythonWords?: boolean;
  /** Unescaped line breaks inside texts. */
  readonly rawLines?: boolean;
}

const COMMENTS = {
  "//": ' // don\'t forget: {"this" ] is, not data\n',
  "/*": ' /* it\'s "not", data: [{ */ ',
  "#": " # isn't data: }\"]\n",
};
const PYTHON: Readonly<Record<string, string>> = { true: "True", false: "False", null: "None" };

/** JSON text in a style. */
export function printJson(value: JsonValue, style: JsonStyle, depth = 0): string {
  if (typeof value === "string") return printText(value, style);
  if (typeof value !== "object" || value === null) {
    const word = JSON.stringify(value);
    return style.pythonWords ? (PYTHON[word] ?? word) : word;
  }
  const items = Array.isArray(value)
    ? value.map((item) => printJson(item, style, depth + 1))
    : Object.entries(value).map(
        ([name, item]) => `${printName(name, style)}: ${printJson(item, style, depth + 1)}`,
      );
  const [open, close] = Array.isArray(value) ? "[]" : "{}";
  if (items.length === 0) return `${open}${close}`;
  const isBroken = style.indent || style.noCommas;
  const space = isBroken ? `\n${"  ".repeat(depth + 1)}` : "";
  const comment = style.comments ? COMMENTS[style.comments] : "";
  const comma = style.noCommas ? "" : ",";
  const end = style.trailingCommas && !style.noCommas ? "," : "";
  return `${open}${comment}${space}${items.join(`${comma}${comment}${space}`)}${end}${isBroken ? "\n" : ""}${close}`;
}

function printName(name: string, style: JsonStyle): string {
  return style.bareNames && /^[A-Za-z_$][\w$]*$/.test(name) ? name : printText(name, style);
}

function printText(text: string, { quotes, rawLines }: JsonStyle): string {
  const json = JSON.stringify(text);
  const inner = rawLines ? json.slice(1, -1).replaceAll("\\n", "\n") : json.slice(1, -1);
  const unquoted = inner.replaceAll('\\"', '"');
  if (quotes === "single-raw") return `'${unquoted}'`;
  if (quotes === "single") return `'${unquoted.replaceAll("'", "\\'")}'`;
  return quotes === "curly" ? `“${inner}”` : `"${inner}"`;
}
