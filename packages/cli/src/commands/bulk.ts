import { randomUUID } from "node:crypto";
import { ApiRefusedError, sendAgain } from "@planwright/client";
import { CodedError, countText } from "@planwright/plan";
import { Option } from "commander";
import {
  type BulkAnswer,
  type BulkResult,
  CANCEL_REQUESTS,
  RERUN_REQUESTS,
  RESUME_REQUESTS,
  RETRY_FAILED_REQUESTS,
} from "../operations.ts";
import { EXIT, type ExitCode, exitCodeOfError, UsageError } from "../report/exit-code.ts";
import { bulkTable } from "../report/tables.ts";
import { confirmed } from "./act.ts";
import type { CommandContext } from "./command-context.ts";
import { type FilterOptions, filterOf, filterOptions } from "./list-requests.ts";
import { printError } from "./print-error.ts";

/** The changes that `bulk` can make. */
export const BULK_CHANGES = ["cancel", "resume", "retry", "rerun"] as const;
export type BulkChange = (typeof BULK_CHANGES)[number];

/** The options of `bulk`. */
export interface BulkOptions extends FilterOptions {
  from?: string;
  yes?: boolean;
  dryRun?: boolean;
}

/** Declares the options of `bulk`. */
export function bulkOptions(): Option[] {
  return [
    ...filterOptions(),
    new Option("--from <step>", "for rerun: also this step and everything that depends on it"),
    new Option(
      "--dry-run",
      "only show what would be changed; the default when the command cannot ask",
    ).conflicts("yes"),
    new Option("--yes", "change them without asking"),
  ];
}

/** Requests in one call of the API. */
const PAGE = 100;
/** The most requests that one command changes. */
const MAX_REQUESTS = 1_000;

const WORDS: Readonly<Record<BulkChange, { ask: string; done: string }>> = {
  cancel: { ask: "Cancel", done: "cancelled, or asked to stop" },
  resume: { ask: "Resume", done: "resumed" },
  retry: { ask: "Retry", done: "retried" },
  rerun: { ask: "Rerun", done: "rerun" },
};

/** One call of the API: with a filter a dry run, with a list of requests the change itself. */
type Call =
  | { filter: ReturnType<typeof filterOf>; after: string | null }
  | { requests: { requestId: string; version: number }[] };

/**
 * Shows the requests that match the options, and changes exactly those: on a terminal after asking, elsewhere
 * with `--yes`.
 * @throws {UsageError} for `from` without rerun, and when the user did not confirm
 */
export async function bulk(
  context: CommandContext,
  change: BulkChange,
  { from, yes = false, dryRun = false, ...options }: BulkOptions,
): Promise<ExitCode> {
  const { output, isJson, canAsk, now } = context;
  if (from !== undefined && change !== "rerun") throw new UsageError("--from is only for bulk rerun");
  const send = sender(context, change, from);
  const preview = await lookAt(send, filterOf(options, now()));
  const possible = preview.results.filter(({ changed }) => changed);
  const isAsked = !yes && !dryRun && canAsk && !isJson;
  if (isAsked) {
    output.print(bulkLines(context, preview));
    if (possible.length > 0)
      await confirmed(context, `${WORDS[change].ask} ${countText(possible.length, "request")}?`);
  }
  const isReal = (yes || isAsked) && possible.length > 0;
  const { error, ...shown } = isReal ? await changeAll(send, possible) : preview;
  if (isJson) {
    const failed = error && { error: { code: codeOf(error), message: error.message } };
    output.printJson({ dryRun: !isReal, ...shown, ...failed }, { isIndented: true });
  } else if (isReal) output.print([...bulkLines(context, shown), summary(shown, WORDS[change].done)]);
  else if (!isAsked) {
    output.print([...bulkLines(context, preview), summary(preview, `would be ${WORDS[change].done}`)]);
    if (possible.length > 0) output.note(["Nothing was changed. Add --yes to the command to change them."]);
  }
  if (error) return endedEarly(context, error, shown.unanswered ?? []);
  return isReal && shown.results.some((result) => result.error !== null) ? EXIT.API : EXIT.OK;
}

function sender({ client, signal }: CommandContext, change: BulkChange, from: string | undefined) {
  return async (call: Call): Promise<BulkAnswer> => {
    const isReal = "requests" in call;
    const variables = { ...call, dryRun: !isReal };
    const keyed = { ...variables, key: isReal ? randomUUID() : null };
    const sendOnce = () => {
      if (change === "cancel") return client.execute(CANCEL_REQUESTS, variables);
      if (change === "resume") return client.execute(RESUME_REQUESTS, variables);
      return change === "retry"
        ? client.execute(RETRY_FAILED_REQUESTS, keyed)
        : client.execute(RERUN_REQUESTS, { ...keyed, from: from ?? null });
    };
    // A cancellation may be repeated without a key. A second resume would undo a pause in between.
    const isKeyed = !isReal || change !== "resume";
    return (await sendAgain(sendOnce, { signal, isKeyed })).answer;
  };
}

/** The results of all calls together. */
interface BulkTotal {
  count: number;
  hasMore: boolean;
  results: BulkResult[];
  /** Why the change ended early, after some requests were changed. */
  error?: CodedError;
  /** Ids of the requests of which it is then not known whether they were changed, and of those behind them. */
  unanswered?: string[];
}

async function lookAt(
  send: (call: Call) => Promise<BulkAnswer>,
  filter: ReturnType<typeof filterOf>,
): Promise<BulkTotal> {
  const results: BulkResult[] = [];
  let after: string | null = null;
  let hasMore = true;
  while (hasMore && results.length < MAX_REQUESTS) {
    const page = await send({ filter, after });
    results.push(...page.results);
    after = page.endCursor;
    hasMore = page.hasMore && after !== null;
  }
  return { count: results.length, hasMore, results };
}

/** @throws the error of the first call; that of a later one is returned beside what was changed before */
async function changeAll(
  send: (call: Call) => Promise<BulkAnswer>,
  possible: readonly BulkResult[],
): Promise<BulkTotal> {
  const results: BulkResult[] = [];
  for (let from = 0; from < possible.length; from += PAGE) {
    const requests = possible
      .slice(from, from + PAGE)
      .map(({ requestId, version }) => ({ requestId, version: version ?? 1 }));
    try {
      results.push(...(await send({ requests })).results);
    } catch (error) {
      if (from === 0 || !(error instanceof CodedError)) throw error;
      const unanswered = possible.slice(from).map(({ requestId }) => requestId);
      return { count: results.length, hasMore: false, results, error, unanswered };
    }
  }
  return { count: results.length, hasMore: false, results };
}

const codeOf = (error: CodedError): string =>
  error instanceof ApiRefusedError ? error.facts.code : error.code;

function endedEarly(
  { output, isJson, command }: CommandContext,
  error: CodedError,
  unanswered: readonly string[],
): ExitCode {
  if (isJson) return exitCodeOfError(error);
  const instruction = `${countText(unanswered.length, "request")} had no answer, the first is ${unanswered[0]}. Look at them before you run the command again:`;
  return printError(error, { output, isJson, next: [{ instruction, command: command("list") }] });
}

function bulkLines({ output }: CommandContext, { results }: BulkTotal): string[] {
  return bulkTable(results, { columns: output.columns, style: output.style });
}

function summary({ results, hasMore }: BulkTotal, what: string): string {
  const changed = results.filter((result) => result.changed).length;
  const refused = results.length - changed;
  const mayRepeat = results.filter(({ error }) => error?.code === "REPEAT_NOT_ACCEPTED").length;
  return [
    `${countText(changed, "request")} ${what}`,
    refused > 0 && `${refused} refused`,
    mayRepeat > 0 && `${mayRepeat} of these may have acted: retry each of them with --repeat`,
    hasMore && `there are more: ${MAX_REQUESTS} at once`,
  ]
    .filter(Boolean)
    .join("; ");
}
