import { type JsonValue, setOwn } from "./json.ts";

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
  /** The first part that the copy has, but that no plan and no argument of a client may have. */
  unfit?: UnfitPart;
}

/**
 * A part of a JSON value that a store, a schema or a server may lose or change: a member whose name has a meaning
 * of its own for JavaScript or BSON; an object that BSON reads as a reference to a document; a text with half of a
 * character (a lone surrogate), which no UTF-8 text can have.
 */
interface UnfitPart {
  problem: "name" | "reference" | "half character";
  path: string;
}

/** The first unfit part of a value; undefined when it has none. */
export function findUnfit(value: unknown): UnfitPart | undefined {
  const copy = copyJson(value, { maxDepth: DEEPEST, maxBytes: Number.POSITIVE_INFINITY });
  return copy.ok ? copy.unfit : undefined;
}

/**
 * The same text with escapes in place of halves of characters, which MongoDB would replace. JSON text stays the
 * same JSON.
 */
export function escapeHalves(text: string): string {
  return text.replace(/\p{Surrogate}/gu, (half) => `\\u${half.charCodeAt(0).toString(16)}`);
}

/** The text, or its beginning, of at most `max` UTF-16 units; never with half of a character at the cut. */
export function wholeCharacters(text: string, max: number): string {
  return text.length <= max ? text : text.slice(0, max).replace(/[\ud800-\udbff]$/, "");
}

/** The text, or its {@link wholeCharacters} with "…", of at most `max` UTF-16 units. */
export function beginningOfText(text: string, max: number): string {
  return text.length <= max ? text : `${wholeCharacters(text, max - 1)}…`;
}

/** Says what is wrong with a part, and what to do. */
export function unfitText({ problem, path }: UnfitPart): string {
  switch (problem) {
    case "name":
      return `The field ${path} has a name that no field may have; rename it or leave it out`;
    case "reference":
      return `The object at ${path} has both $ref and $id, so it would be stored as a reference to a document; rename one of them, or write the object as text`;
    case "half character":
      return `The text at ${path} has half of a character (a lone surrogate), which cannot be stored; write the whole character or leave it out`;
  }
}

const DEEPEST = 1_000;

/**
 * A deep copy of a JSON value that shares nothing with its source. Never throws for any value: cycles end at
 * a limit, and getters and proxies that throw make the value `not-json`. As in JSON text, undefined members
 * are left out, an undefined entry of a list becomes null, -0 becomes 0, and a date its ISO text. Unlike in
 * JSON text, NaN and infinities are refused instead of silently becoming null. Copies only own enumerable
 * members; one named `__proto__` is an own member of the copy too, and changes no prototype. What comes from a
 * tool is kept like that; what a client or a model writes is refused if it has an `unfit` part.
 */
export function copyJson(value: unknown, limits: CopyLimits): JsonCopy | ({ ok: false } & CopyRefusal) {
  const copier = new Copier({ ...limits, maxDepth: Math.min(limits.maxDepth, DEEPEST) });
  try {
    const copy = copier.copy(value, 0);
    const { sizeBytes, unfit } = copier;
    return { ok: true, value: copy, sizeBytes, ...(unfit && { unfit }) };
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
  unfit: UnfitPart | undefined;
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
    if (Object.hasOwn(object, "$ref") && Object.hasOwn(object, "$id")) this.#note("reference");
    let isFirst = true;
    for (const key of Object.keys(object)) {
      const member: unknown = Reflect.get(object, key);
      if (member === undefined) continue;
      this.#spend(isFirst ? 3 : 4);
      isFirst = false;
      this.path.push(key);
      if (key === "__proto__" || key === "_bsontype" || key.includes("\0")) this.#note("name");
      this.#spendText(key);
      setOwn(copy, key, this.copy(member, depth + 1));
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
    const { bytes, hasHalf } = measureText(text);
    this.#spend(bytes);
    if (hasHalf) this.#note("half character");
  }

  #note(problem: UnfitPart["problem"]): void {
    this.unfit ??= { problem, path: pathText(this.path) };
  }

  #refuse(problem: CopyRefusal["problem"]): never {
    this.problem = problem;
    throw new RangeError(problem);
  }
}

/**
 * Size of a text inside JSON in bytes, with escapes, without quotes; and whether it has half of a character.
 */
function measureText(text: string): { bytes: number; hasHalf: boolean } {
  let bytes = 0;
  let hasHalf = false;
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
    } else {
      bytes += 6;
      hasHalf = true;
    }
  }
  return { bytes, hasHalf };
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
