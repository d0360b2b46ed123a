import { type RequestStatus, ToolNameSchema } from "@planwright/plan";
import type { RequestFilter, RequestNeed } from "@planwright/store";
import { BadInputError } from "../errors/api-error.ts";
import { isWellFormed, parseTag, quoted } from "./text.ts";

/** A filter as clients give it. */
export interface FilterArgument {
  status?: readonly RequestStatus[] | null;
  tool?: string | null;
  errorCode?: string | null;
  tag?: string | null;
  text?: string | null;
  createdFrom?: Date | null;
  createdBefore?: Date | null;
  calledTool?: string | null;
  calledFrom?: Date | null;
  calledBefore?: Date | null;
  needs?: "APPROVAL" | "DOUBT" | "ANSWER" | "SIGN_IN" | null;
}

const NEEDS: Readonly<Record<NonNullable<FilterArgument["needs"]>, RequestNeed>> = {
  APPROVAL: "approval",
  DOUBT: "doubt",
  ANSWER: "answer",
  SIGN_IN: "sign-in",
};

/** Longest search text, in UTF-16 units. */
const MAX_TEXT_LENGTH = 200;

/**
 * Selects requests.
 * @param status - the older argument beside the filter
 * @throws {BadInputError} for an impossible value, and for values that contradict each other
 */
export function parseFilter(
  given: FilterArgument | null | undefined,
  status: readonly RequestStatus[] | null | undefined,
): RequestFilter {
  const { tool, errorCode, createdFrom, createdBefore, calledTool, calledFrom, calledBefore } = given ?? {};
  if (given?.status && status) {
    throw new BadInputError("status", "The status is given twice", "Give it only in filter.");
  }
  requireRange("created", createdFrom, createdBefore);
  requireRange("called", calledFrom, calledBefore);
  requireToolName("filter.tool", tool);
  requireToolName("filter.calledTool", calledTool);
  if (typeof calledTool !== "string" && (calledFrom || calledBefore)) {
    throw new BadInputError(
      "filter.calledTool",
      "calledFrom and calledBefore are times of calls of a tool, and no tool is given",
      "Add calledTool, or give createdFrom and createdBefore, the times of the requests.",
    );
  }
  if (typeof errorCode === "string" && !/^[A-Z][A-Z0-9_]{0,63}$/.test(errorCode)) {
    throw new BadInputError(
      "filter.errorCode",
      `Not an error code: ${quoted(errorCode)}`,
      "Give a code as in error { code }, such as TOOL_TIMEOUT.",
    );
  }
  const statuses = given?.status ?? status ?? [];
  return {
    status: statuses.length > 0 ? [...new Set(statuses)] : undefined,
    tool: tool ?? undefined,
    errorCode: errorCode ?? undefined,
    tag: typeof given?.tag === "string" ? parseTag("filter.tag", given.tag) : undefined,
    text: parseSearchText(given?.text),
    createdFrom: createdFrom ?? undefined,
    createdBefore: createdBefore ?? undefined,
    called:
      typeof calledTool === "string"
        ? { tool: calledTool, from: calledFrom ?? undefined, before: calledBefore ?? undefined }
        : undefined,
    needs: given?.needs ? NEEDS[given.needs] : undefined,
  };
}

/**
 * A filter of a live list. @throws {BadInputError} also for calledTool, which needs the journal of each request
 */
export function parseLiveFilter(given: FilterArgument | null | undefined): RequestFilter {
  const filter = parseFilter(given, undefined);
  if (!filter.called) return filter;
  throw new BadInputError(
    "filter.calledTool",
    "A live list has no filter by calls",
    "Read them with the query requests, or follow with filter.tool, which matches plans that use the tool.",
  );
}

function requireRange(name: "created" | "called", from?: Date | null, before?: Date | null): void {
  if (!from || !before || from < before) return;
  throw new BadInputError(
    `filter.${name}Before`,
    `${name}Before is not later than ${name}From`,
    `Give a ${name}Before that is later than ${name}From.`,
  );
}

function requireToolName(path: string, tool: string | null | undefined): void {
  if (typeof tool !== "string" || ToolNameSchema.safeParse(tool).success) return;
  throw new BadInputError(
    path,
    `Not a tool name: ${quoted(tool)}`,
    "getAvailableTools { name } lists the names.",
  );
}

function parseSearchText(text: string | null | undefined): string | undefined {
  if (text === null || text === undefined) return undefined;
  if (text.trim() === "" || text.length > MAX_TEXT_LENGTH || !isWellFormed(text)) {
    throw new BadInputError(
      "filter.text",
      `The text has ${text.length} characters, is blank, or is not well-formed`,
      `Give 1 to ${MAX_TEXT_LENGTH} characters, not only blanks, as UTF-8 without NUL characters.`,
    );
  }
  return text.trim();
}
