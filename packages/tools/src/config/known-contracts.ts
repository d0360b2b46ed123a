import { canonicalDigest, canonicalJson, isJsonObject, type JsonObject } from "@planwright/plan";
import { REVIEWED_CONTRACTS } from "./reviewed-contracts.ts";
import { REVIEWED_DIGESTS } from "./reviewed-digests.ts";

/** The words of `contracts` in the servers file that name a package: "known:PACKAGE". */
const NAMED = "known:";

/** The part of a server's configuration that says which package it is. */
interface PackageSource {
  contracts?: string | undefined;
  command?: string;
  args?: readonly string[];
}

/**
 * The package whose reviewed contracts a server takes: the one that `contracts` names, or with "known" the one
 * that its command line names, as in `npx -y PACKAGE@1.2.3` or `node …/node_modules/PACKAGE/index.js`.
 * @returns undefined without `contracts`, and when there is no such package with reviewed contracts
 */
export function knownPackage({ contracts, command = "", args = [] }: PackageSource): string | undefined {
  if (contracts === undefined) return undefined;
  const isKnown = (name: string | undefined) => name !== undefined && Object.hasOwn(REVIEWED_CONTRACTS, name);
  if (contracts.startsWith(NAMED)) {
    const name = contracts.slice(NAMED.length);
    return isKnown(name) ? name : undefined;
  }
  return [command, ...args].map(packageIn).find(isKnown);
}

/** Why a server cannot take reviewed contracts, with what to write; undefined when it can. */
export function knownPackageProblem(source: PackageSource): string | undefined {
  if (source.contracts === undefined || knownPackage(source) !== undefined) return undefined;
  return `has no reviewed contracts by this name or command line; write "${NAMED}" and one of: ${Object.keys(REVIEWED_CONTRACTS).join(", ")}`;
}

/** The package that a word of a command line names, if it names one. */
function packageIn(word: string): string | undefined {
  const parts = word.slice(0, 4_096).replaceAll("\\", "/").split("/");
  const folder = parts.lastIndexOf("node_modules");
  const [first = "", second = ""] = parts.slice(folder + 1);
  if (folder < 0 && parts.length > (first.startsWith("@") ? 2 : 1)) return undefined;
  const last = first.startsWith("@") ? second : first;
  const name = last.split("@")[0] ?? "";
  return first.startsWith("@") ? `${first}/${name}` : name;
}

/** The part of a server's configuration that decides over the contract of a tool. */
interface ContractSource extends PackageSource {
  tools: Readonly<Record<string, object>>;
}

/**
 * The operator's contract of a tool: that of `tools`, and with `contracts` the fields of the reviewed contract
 * that `tools` does not name. `known` in it says where these come from, or why they are not used.
 * @returns undefined when neither has anything for the tool
 */
export function operatorContract(
  config: ContractSource,
  tool: string,
  inputSchema: JsonObject,
): JsonObject | undefined {
  const own = Object.hasOwn(config.tools, tool) ? (config.tools[tool] as JsonObject) : undefined;
  const name = knownPackage(config);
  const reviewed = name === undefined ? undefined : REVIEWED_CONTRACTS[name];
  if (name === undefined || !reviewed || !Object.hasOwn(reviewed.tools, tool)) return own;
  const by = { package: name, version: reviewed.version };
  if (REVIEWED_DIGESTS[name]?.[tool] !== inputDigest(inputSchema)) {
    return { ...own, known: { ...by, problem: "its input schema differs from the reviewed one" } };
  }
  const [contract = {}, from = ""] = reviewed.tools[tool] ?? [];
  const fields = Object.keys(contract).filter((field) => own === undefined || !Object.hasOwn(own, field));
  return { ...(contract as JsonObject), ...own, known: { ...by, from, fields } };
}

/**
 * Digest of what a tool accepts: of its input schema without texts and default values, without the order in
 * lists whose order means nothing, and without what depends on the version of the schema library that npm chose
 * for the package. 32 hexadecimal digits.
 */
export function inputDigest(inputSchema: JsonObject): string {
  return canonicalDigest(meaningOf(inputSchema)).slice(0, 32);
}

/** Keywords that do not change what is accepted. */
const TEXTS = new Set(["$schema", "$comment", "title", "description", "default", "examples", "deprecated"]);
/** Keywords whose fields are names, not keywords. */
const BY_NAME = new Set(["properties", "patternProperties", "$defs", "definitions", "dependentSchemas"]);
/** Keywords whose lists have no order. */
const UNORDERED = new Set(["required", "enum", "type", "anyOf", "oneOf", "allOf"]);
/**
 * What one version of zod writes and another does not, for the same code: whether unknown fields are refused,
 * that names are texts, and that integers are exact.
 */
const OF_LIBRARY: Readonly<Record<string, readonly unknown[]>> = {
  additionalProperties: [true, false, {}],
  propertyNames: [{ type: "string" }],
  maximum: [Number.MAX_SAFE_INTEGER],
  minimum: [Number.MIN_SAFE_INTEGER],
};

function meaningOf(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(meaningOf);
  if (!isJsonObject(schema)) return schema;
  return Object.fromEntries(
    Object.entries(schema).flatMap(([keyword, value]): [string, unknown][] => {
      if (TEXTS.has(keyword) || isOfLibrary(keyword, value)) return [];
      if (keyword === "const") return [[keyword, value]];
      if (BY_NAME.has(keyword) && isJsonObject(value)) {
        const named = Object.entries(value).map(([name, inner]) => [name, meaningOf(inner)]);
        return [[keyword, Object.fromEntries(named)]];
      }
      const inner = keyword === "enum" ? value : meaningOf(value);
      return [[keyword, UNORDERED.has(keyword) && Array.isArray(inner) ? inner.toSorted(byJson) : inner]];
    }),
  );
}

function isOfLibrary(keyword: string, value: unknown): boolean {
  if (!Object.hasOwn(OF_LIBRARY, keyword)) return false;
  return OF_LIBRARY[keyword]?.some((form) => canonicalJson(form) === canonicalJson(value)) ?? false;
}

function byJson(left: unknown, right: unknown): number {
  const [first, second] = [canonicalJson(left), canonicalJson(right)];
  return first < second ? -1 : Number(first > second);
}
