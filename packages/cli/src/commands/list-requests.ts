import { FAILED_REQUEST_STATUSES, RequestStatusSchema } from "@planwright/plan";
import { InvalidArgumentError, Option } from "commander";
import ms, { type StringValue } from "ms";
import { LIST_REQUESTS, type ListedRequest, toListedRequest } from "../operations.ts";
import { wholeNumber } from "../program-options.ts";
import { EXIT, type ExitCode } from "../report/exit-code.ts";
import { requestsTable } from "../report/tables.ts";
import type { CommandContext } from "./command-context.ts";

/** Options that select requests. */
export interface FilterOptions {
  status?: string[];
  failed?: boolean;
  tag?: string;
  tool?: string;
  touched?: string;
  code?: string;
  needs?: keyof typeof NEED_OF;
  since?: Moment;
  until?: Moment;
}

/** The options of `list`. */
export interface ListOptions extends FilterOptions {
  first: number;
}

/** A point in time: this many milliseconds ago, or an instant as RFC 3339 text. */
export type Moment = { agoMs: number } | { at: string };

/** What a request may wait for, with the API's name for it. */
const NEED_OF = { approval: "APPROVAL", doubt: "DOUBT", answer: "ANSWER", "sign-in": "SIGN_IN" } as const;

/** Declares the options of `list`. */
export function listOptions(): Option[] {
  return [
    new Option("--first <number>", "how many requests to list").argParser(wholeNumber(100)).default(20),
    ...filterOptions(),
  ];
}

/** Declares the options that select requests. */
export function filterOptions(): Option[] {
  const statuses = RequestStatusSchema.options;
  return [
    new Option("--status <status...>", "only these, in upper or lower case")
      .choices(statuses)
      .argParser((typed, before: string[] | undefined) => [...(before ?? []), parseStatus(typed)]),
    new Option("--failed", "only those that failed, in whole or in part").conflicts("status"),
    new Option("--since <time>", "only those created since: 24h, 30m, 2d, or 2026-11-21T08:00:00Z").argParser(
      parseMoment,
    ),
    new Option("--until <time>", "only those created before: 24h means 24 hours ago").argParser(parseMoment),
    new Option("--code <code>", "only those that failed with this code, such as TOOL_TIMEOUT").argParser(
      (typed) => typed.toUpperCase(),
    ),
    new Option("--tool <tool>", "only those with a plan that uses this tool"),
    new Option(
      "--touched <tool>",
      "only those that called this tool; then --since and --until are about the time of the calls",
    ),
    new Option(
      "--needs <what>",
      "only those that wait for a person: approval, doubt, answer or sign-in",
    ).choices(Object.keys(NEED_OF)),
    new Option("--tag <tag>", "only those with this tag"),
  ];
}

/** Most requests in one query: more would exceed the API's cost limit for one document. */
const PAGE = 50;

/** Lists the newest requests that match all options. */
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

/** The API's filter for the options. */
export function filterOf({ failed, since, until, touched, ...options }: FilterOptions, nowMs: number) {
  const from = since ? instantOf(since, nowMs) : null;
  const before = until ? instantOf(until, nowMs) : null;
  return {
    status: failed ? [...FAILED_REQUEST_STATUSES] : (options.status ?? null),
    tag: options.tag ?? null,
    tool: options.tool ?? null,
    errorCode: options.code ?? null,
    needs: options.needs ? NEED_OF[options.needs] : null,
    ...(touched === undefined
      ? { createdFrom: from, createdBefore: before }
      : { calledTool: touched, calledFrom: from, calledBefore: before }),
  };
}

/** A point in time as RFC 3339 text. @param nowMs - now, in milliseconds since 1970 */
export function instantOf(moment: Moment, nowMs: number): string {
  return "at" in moment ? moment.at : new Date(nowMs - moment.agoMs).toISOString();
}

function parseStatus(typed: string): string {
  const status = RequestStatusSchema.safeParse(typed.toUpperCase());
  if (status.success) return status.data;
  throw new InvalidArgumentError(`Allowed choices are ${RequestStatusSchema.options.join(", ")}.`);
}

/** @throws {InvalidArgumentError} if the text is neither a duration with its unit nor an instant */
export function parseMoment(typed: string): Moment {
  const text = typed.trim();
  if (/^\d{4}-\d{2}-\d{2}/.test(text) && !Number.isNaN(Date.parse(text))) {
    return { at: new Date(text).toISOString() };
  }
  const agoMs = isWithUnit(text) ? ms(text) : undefined;
  if (agoMs === undefined || !(agoMs > 0) || agoMs > MAX_AGO_MS) {
    throw new InvalidArgumentError(
      "Give a duration with its unit, such as 24h, 30m or 2d, or an instant such as 2026-11-21T08:00:00Z",
    );
  }
  return { agoMs };
}

/** Ten years, in milliseconds. */
const MAX_AGO_MS = 315_360_000_000;

/** Without a unit `ms` would read the number as milliseconds, which no user means. */
function isWithUnit(text: string): text is StringValue {
  return /^[\d.]{1,10} ?[a-z]+$/i.test(text);
}
