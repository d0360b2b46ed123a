import { FAILED_REQUEST_STATUSES, RequestStatusSchema } from "@planwright/plan";
import { InvalidArgumentError, Option } from "commander";
import ms, { type StringValue } from "ms";
import { LIST_REQUESTS, type ListedRequest, toListedRequest } from "../api/listed-requests.ts";
import { wholeNumber } from "../program-options.ts";
import { EXIT, type ExitCode } from "../report/exit-code.ts";
import { requestsTable } from "../report/tables.ts";
import type { CommandContext } from "./command-context.ts";

/** What was typed to say which requests are meant. */
export interface FilterOptions {
  status?: string[];
  failed?: boolean;
  tag?: string;
  tool?: string;
  code?: string;
  needs?: (typeof NEEDS)[number];
  since?: Since;
}

/** What was typed beside `list`. */
export interface ListOptions extends FilterOptions {
  first: number;
}

/** From when on: so many milliseconds ago, or an instant as RFC 3339 text. */
export type Since = { agoMs: number } | { at: string };

const NEEDS = ["approval", "doubt", "answer"] as const;
/** The same as the API writes them. */
const NEED_OF = { approval: "APPROVAL", doubt: "DOUBT", answer: "ANSWER" } as const;

/** The options of `list`. */
export function listOptions(): Option[] {
  return [
    new Option("--first <number>", "how many").argParser(wholeNumber(100)).default(20),
    ...filterOptions(),
  ];
}

/** Options that say which requests are meant. */
export function filterOptions(): Option[] {
  const statuses = RequestStatusSchema.options;
  return [
    new Option("--status <status...>", "only these, in any case of letters")
      .choices(statuses)
      .argParser((typed, before: string[] | undefined) => [...(before ?? []), parseStatus(typed)]),
    new Option("--failed", "only those that failed, in whole or in part").conflicts("status"),
    new Option("--since <time>", "only those created since: 24h, 30m, 2d, or 2026-11-21T08:00:00Z").argParser(
      parseSince,
    ),
    new Option("--code <code>", "only those that failed with this code, such as TOOL_TIMEOUT").argParser(
      (typed) => typed.toUpperCase(),
    ),
    new Option("--tool <tool>", "only those with a plan that uses this tool"),
    new Option("--needs <what>", "only those that wait for a person: approval, doubt or answer").choices(
      NEEDS,
    ),
    new Option("--tag <tag>", "only those with this tag"),
  ];
}

/** Requests that are read at once: more of them would cost more than the API lets a document cost. */
const PAGE = 50;

/** Lists the newest requests that fit everything that was typed. */
export async function list(
  { client, output, isJson, now }: CommandContext,
  { first, ...options }: ListOptions,
): Promise<ExitCode> {
  const wanted = filterOf(options, now());
  const requests: ListedRequest[] = [];
  let after: string | undefined;
  do {
    const size = Math.min(PAGE, first - requests.length);
    const page = await client.execute(LIST_REQUESTS, { ...wanted, first: size, after });
    const { nodes, pageInfo } = page.requests;
    requests.push(...nodes.map(toListedRequest));
    after = pageInfo.hasNextPage ? (pageInfo.endCursor ?? undefined) : undefined;
  } while (after !== undefined && requests.length < first);
  if (isJson) output.printJson(requests, { isIndented: true });
  else output.print(requestsTable(requests, { columns: output.columns, style: output.style }));
  return EXIT.OK;
}

/** The filter of the API for what was typed. */
export function filterOf({ failed, since, ...options }: FilterOptions, nowMs: number) {
  return {
    status: failed ? [...FAILED_REQUEST_STATUSES] : (options.status ?? null),
    tag: options.tag ?? null,
    tool: options.tool ?? null,
    errorCode: options.code ?? null,
    needs: options.needs ? NEED_OF[options.needs] : null,
    createdFrom: since ? createdFrom(since, nowMs) : null,
  };
}

function createdFrom(since: Since, nowMs: number): string {
  return "at" in since ? since.at : new Date(nowMs - since.agoMs).toISOString();
}

function parseStatus(typed: string): string {
  const status = RequestStatusSchema.safeParse(typed.toUpperCase());
  if (status.success) return status.data;
  throw new InvalidArgumentError(`Allowed choices are ${RequestStatusSchema.options.join(", ")}.`);
}

/** @throws {InvalidArgumentError} for what is neither a time with its unit nor an instant */
export function parseSince(typed: string): Since {
  const text = typed.trim();
  if (/^\d{4}-\d{2}-\d{2}/.test(text) && !Number.isNaN(Date.parse(text))) {
    return { at: new Date(text).toISOString() };
  }
  const agoMs = isWithUnit(text) ? ms(text) : undefined;
  if (agoMs === undefined || !(agoMs > 0) || agoMs > MAX_AGO_MS) {
    throw new InvalidArgumentError(
      "Give a time with its unit, such as 24h, 30m or 2d, or a moment such as 2026-11-21T08:00:00Z",
    );
  }
  return { agoMs };
}

/** Ten years, in milliseconds. */
const MAX_AGO_MS = 315_360_000_000;

/** A number alone would be milliseconds, which is never meant. */
function isWithUnit(text: string): text is StringValue {
  return /^[\d.]{1,10} ?[a-z]+$/i.test(text);
}
