import type { JsonValue } from "./json.ts";

/** Limits of a copy. */
export interface CopyLimits {
  /** Deepest nesting of objects and arrays; at most 1,000. A text has depth 0, `[]` has 1. */
  maxDepth: number;
  /** Largest size as compact JSON text in UTF-8, in bytes. */
  maxBytes: number;
}

/** Why a value was not copied. `path` is the path in the value, such as `$.rows[3].at`. */
export interface CopyRefusal {
  problem: "not-json" | "too-deep" | "too-large";
  path: string;
}

/** The copy of a value. */
export interface JsonCopy {
  ok: true;
  value: JsonValue;
  sizeBytes: number;
  /** Path of the first member that the copy does not have, because of its name. */
  leftOut?: string;
}

const DEEPEST = 1_000;

/**
 * A deep copy of a JSON value that shares nothing with its source. Never throws for any value: cycles end at
 * a limit, and getters and proxies that throw make the value `not-json`. As in JSON text, undefined members
 * are left out, an undefined entry of a list becomes null, -0 becomes 0, and a date its ISO text. Unlike in
 * JSON text, NaN and infinities are refused instead of silently becoming null. Copies only own enumerable
 * members; a member named `__proto__` is left out, and `leftOut` is the path of the first one.
 */
export function copyJson(value: unknown, limits: CopyLimits): JsonCopy | ({ ok: false } & CopyRefusal) {
  const copier = new Copier({ ...limits, maxDepth: Math.min(limits.maxDepth, DEEPEST) });
  try {
    const copy = copier.copy(value, 0);
    const { sizeBytes, leftOut } = copier;
    return { ok: true, value: copy, sizeBytes, ...(leftOut !== undefined && { leftOut }) };
  } catch {
    // Either the copier refused, or a getter or proxy of a hostile value threw: the error itself is not
    // relevant.
    return { ok: false, problem: copier.problem ?? "not-json", path: pathText(copier.path) };
  }
}

class Copier {
  readonly path: (string | number)[] = [];
  sizeBytes = 0;
  /** Why the copy was refused. */
  problem: CopyRefusal["problem"] | undefined;
  /** Path of the first member that was left out. */
  leftOut: string | undefined;
  readonly #limits: CopyLimits;

  constructor(limits: CopyLimits) {
    this.#limits = limits;
  }

  copy(value: unknown, depth: number): JsonValue {
    switch (typeof value) {
      case "string":
        this.#spend(2);
        this.#spendText(value);
        return value;
      case "boolean":
        this.#spend(value ? 4 : 5);
        return value;
      case "number":
        if (!Number.isFinite(value)) return this.#refuse("not-json");
        this.#spend(String(value).length);
        return value === 0 ? 0 : value;
      case "object":
        if (value === null) {
          this.#spend(4);
          return null;
        }
        if (value instanceof Date) return this.copy(value.toISOString(), depth);
        if (depth >= this.#limits.maxDepth) return this.#refuse("too-deep");
        this.#spend(2);
        return Array.isArray(value) ? this.#list(value, depth) : this.#object(value, depth);
      default:
        return this.#refuse("not-json");
    }
  }

  #list(list: readonly unknown[], depth: number): JsonValue[] {
    const copy: JsonValue[] = [];
    for (let index = 0; index < list.length; index += 1) {
      if (index > 0) this.#spend(1);
      this.path.push(index);
      copy.push(this.copy(list[index] ?? null, depth + 1));
      this.path.pop();
    }
    return copy;
  }

  #object(object: object, depth: number): { [key: string]: JsonValue } {
    if (object instanceof Map || object instanceof Set || ArrayBuffer.isView(object))
      return this.#refuse("not-json");
    const copy: { [key: string]: JsonValue } = {};
    let isFirst = true;
    for (const key of Object.keys(object)) {
      if (key === "__proto__") {
        this.leftOut ??= pathText([...this.path, key]);
        continue;
      }
      const member: unknown = Reflect.get(object, key);
      if (member === undefined) continue;
      this.#spend(isFirst ? 3 : 4);
      this.#spendText(key);
      isFirst = false;
      this.path.push(key);
      copy[key] = this.copy(member, depth + 1);
      this.path.pop();
    }
    return copy;
  }

  #spend(bytes: number): void {
    this.sizeBytes += bytes;
    if (this.sizeBytes > this.#limits.maxBytes) this.#refuse("too-large");
  }

  #spendText(text: string): void {
    // A text has at least one byte for each character: refuses a huge text without reading it.
    if (this.sizeBytes + text.length > this.#limits.maxBytes) this.#refuse("too-large");
    this.#spend(jsonBytes(text));
  }

  #refuse(problem: CopyRefusal["problem"]): never {
    this.problem = problem;
    throw new RangeError(problem);
  }
}

/** Size of a text inside JSON in bytes, with escapes, without quotes. */
function jsonBytes(text: string): number {
  let bytes = 0;
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    if (code === 0x22 || code === 0x5c || (code >= 8 && code <= 13 && code !== 11)) bytes += 2;
    else if (code < 0x20) bytes += 6;
    else if (code < 0x80) bytes += 1;
    else if (code < 0x800) bytes += 2;
    else if (code < 0xd800 || code > 0xdfff) bytes += 3;
    else if (isPair(text, index)) {
      bytes += 4;
      index += 1;
    } else bytes += 6;
  }
  return bytes;
}

function isPair(text: string, index: number): boolean {
  const low = text.charCodeAt(index + 1);
  return text.charCodeAt(index) < 0xdc00 && low >= 0xdc00 && low <= 0xdfff;
}

/** The path for people: at most the first 10 parts, each cut. */
function pathText(path: readonly (string | number)[]): string {
  const parts = path.slice(0, 10).map((part) => {
    if (typeof part === "number") return `[${part}]`;
    return /^[A-Za-z_][A-Za-z0-9_]{0,63}$/.test(part) ? `.${part}` : `[${JSON.stringify(part.slice(0, 64))}]`;
  });
  return `$${parts.join("")}${path.length > 10 ? "..." : ""}`;
}
