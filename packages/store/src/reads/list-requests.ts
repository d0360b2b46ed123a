/**
 * Every list is in the order of creation, then of the ids. A page costs at most three reads, each by an index that
 * begins with the tenant, and a fourth if a page by plans ends within a second. None of them scans more than 10,000
 * requests, and by plans the rest of one second: when a filter leaves fewer than the page size, the cursor continues
 * after the last request, or second, that was scanned. A filter by calls also reads the journals of at most 1,000 requests.
 */
import type { RequestId, RequestStatus } from "@planwright/plan";
import type { Document, Filter } from "mongodb";
import type { Collections } from "../database/collections.ts";
import { idsAfter } from "../journal/entry-log.ts";
import type { VersionHead } from "../records/document-heads.ts";
import type { PlanDocument } from "../records/plan-document.ts";
import type { RequestDocument } from "../records/request-document.ts";
import { type Page, pageOf, parseCursor, type RequestCursor, toCursor } from "./record-pages.ts";

/** Maximum number of requests or plans that one page scans. */
const WINDOW = 10_000;
/** The same for a filter by calls, which reads the journals of these requests. */
const CALLED_WINDOW = 1_000;
const JOURNALS = 50;

/** Only planners use the draft, and it is as large as a plan. */
const WITHOUT_DRAFT = { projection: { draft: 0 } } as const;

/** Operators for values after a value, by direction. */
const COMPARISONS = {
  "-1": { beyond: "$lt", upTo: "$lte" },
  "1": { beyond: "$gt", upTo: "$gte" },
} as const;

/** A position in the list, and how to continue from it. */
interface Position {
  after: RequestCursor | null;
  /** -1: newest first; 1: oldest first. */
  direction: 1 | -1;
  window: number;
}

/** The list of requests. @throws {CursorInvalidError} */
export function createListRequests({ requests, plans, journal }: Collections) {
  return async (
    tenant: string,
    {
      first,
      after,
      filter = {},
      order = "newest",
      window = filter.called ? CALLED_WINDOW : WINDOW,
    }: RequestPage & { window?: number },
  ): Promise<Page<RequestDocument>> => {
    const position: Position = {
      after: after === undefined ? null : parseCursor(after),
      direction: order === "newest" ? -1 : 1,
      window,
    };
    const isByPlan = [filter.tool, filter.errorCode, filter.called, needFilter(filter)].some(
      (part) => part !== undefined,
    );
    const { found, stoppedAt } = isByPlan
      ? await byPlan(tenant, filter, position, first + 1)
      : await byTime(tenant, filter, position, first + 1);
    const page = pageOf(found, first, ({ createdAt, _id }) => toCursor({ createdAt, id: _id }));
    return { ...page, cursor: page.cursor ?? (stoppedAt && toCursor(stoppedAt)) };
  };

  /** Reads in the order of creation, by the times in the requests. */
  async function byTime(tenant: string, filter: RequestFilter, position: Position, count: number) {
    const match = { tenant, ...tagFilter(filter), ...statusFilter(filter), ...timeFilter(filter, position) };
    const sort = { createdAt: position.direction, _id: position.direction };
    if (filter.text === undefined) {
      const found = await requests.find(match, WITHOUT_DRAFT).sort(sort).limit(count).toArray();
      return { found, stoppedAt: null };
    }
    const found = await requests
      .aggregate<RequestDocument>([
        { $match: match },
        { $sort: sort },
        { $limit: position.window },
        { $match: textFilter(filter) },
        { $limit: count },
        { $unset: "draft" },
      ])
      .toArray();
    if (found.length === count) return { found, stoppedAt: null };
    const [last] = await requests
      .aggregate<RequestDocument>([
        { $match: match },
        { $sort: sort },
        { $skip: position.window - 1 },
        { $limit: 1 },
        { $project: { createdAt: 1 } },
      ])
      .toArray();
    return { found, stoppedAt: last ? { createdAt: last.createdAt, id: last._id } : null };
  }

  /**
   * Reads in the order of the ids, which begin with the second of creation: plans have no other time of their
   * requests. Each second is read as a whole, and put into the order of creation.
   */
  async function byPlan(tenant: string, filter: RequestFilter, position: Position, count: number) {
    const { direction } = position;
    const isBefore = (a: string | number, b: string | number) => (direction === -1 ? a > b : a < b);
    const scans = await Promise.all(idsByPlan(tenant, filter, position));
    // What comes after the first end of a scan that was cut is not known yet.
    const [stop = null] = scans.flatMap(({ until }) => until ?? []).toSorted((a, b) => direction * (a - b));
    const candidates = [...new Set(scans.flatMap(({ ids }) => ids))].filter(
      (id) => stop === null || !isBefore(stop, secondOf(id)),
    );
    const match = {
      tenant,
      ...tagFilter(filter),
      ...statusFilter(filter),
      ...textFilter(filter),
      ...timeFilter(filter, position),
    };
    const stoppedAt = stop === null ? null : behindSecond(stop, direction);
    const read = (ids: readonly RequestId[]) =>
      requests.find({ ...match, _id: { $in: [...ids] } }, WITHOUT_DRAFT).sort({ _id: direction });
    const sorted = <One extends Pick<RequestDocument, "_id" | "createdAt">>(some: readonly One[]) =>
      some.toSorted(
        (a, b) => direction * (a.createdAt.getTime() - b.createdAt.getTime() || (a._id < b._id ? -1 : 1)),
      );
    if (filter.called) {
      const matching = await requests
        .find({ ...match, _id: { $in: candidates } }, { projection: { createdAt: 1 } })
        .toArray();
      const ids = sorted(matching).map(({ _id }) => _id);
      const wanted = await firstWithCall(ids, filter.called, count);
      return { found: sorted(await read(wanted).toArray()), stoppedAt };
    }
    const found = await read(candidates).limit(count).toArray();
    const last = found.length === count ? found.at(-1)?._id : undefined;
    const others = candidates.filter((id) => last && secondOf(id) === secondOf(last) && isBefore(last, id));
    const ofSecond = others.length > 0 ? await read(others).toArray() : [];
    return { found: sorted([...found, ...ofSecond]).slice(0, count), stoppedAt };
  }

  /** The first requests whose journals have such a call, in the given order. */
  async function firstWithCall(
    ids: readonly RequestId[],
    called: CalledTool,
    count: number,
  ): Promise<RequestId[]> {
    const withCall: RequestId[] = [];
    for (let at = 0; at < ids.length && withCall.length < count; at += JOURNALS) {
      const some = ids.slice(at, at + JOURNALS);
      const found = await callsOf(some, called);
      withCall.push(...some.filter((id) => found.has(id)));
    }
    return withCall.slice(0, count);
  }

  /** Those of the requests with such a call. A call whose server was not reached was not sent. */
  async function callsOf(
    ids: readonly RequestId[],
    { tool, from, before }: CalledTool,
  ): Promise<Set<string>> {
    const at = { ...(from && { $gte: from }), ...(before && { $lt: before }) };
    const started = { type: "attempt.started", tool, ...((from ?? before) && { at }) };
    const unreached = { type: "attempt.ended", isUnsent: true };
    const entries = journal.aggregate<{ _id: RequestId }>([
      { $match: { $or: ids.map((id) => ({ _id: idsAfter({ requestId: id, seq: 0 }) })) } },
      { $match: { events: { $elemMatch: { $or: [started, unreached] } } } },
      { $unwind: "$events" },
      { $replaceWith: { $mergeObjects: ["$events", { requestId: "$requestId" }] } },
      { $match: { $or: [started, unreached] } },
      {
        $group: {
          _id: { requestId: "$requestId", attemptId: "$attemptId" },
          types: { $addToSet: "$type" },
        },
      },
      { $match: { types: ["attempt.started"] } },
      { $group: { _id: "$_id.requestId" } },
    ]);
    const found = new Set<string>();
    for await (const { _id } of entries) found.add(_id);
    return found;
  }

  /**
   * Ids of requests by fields of their plans, or of the requests. Each scan is in order, and at most as long as the
   * window and the rest of its last second; `until` is this second if the scan was cut, in Unix milliseconds.
   */
  function idsByPlan(tenant: string, filter: RequestFilter, position: Position): Promise<Scan>[] {
    const { errorCode, called } = filter;
    const { direction, window } = position;
    const tool = filter.tool ?? called?.tool;
    const needs = needFilter(filter);
    const scan = async (read: (ids: IdRange | undefined, limit: number) => Promise<RequestId[]>) => {
      const ids = await read(idRange(filter, position), window);
      const last = ids.at(-1);
      if (ids.length < window || !last) return { ids, until: null };
      const until = secondOf(last);
      const rest =
        direction === -1
          ? { $gte: edge(new Date(until), 0), $lt: last }
          : { $gt: last, $lt: edge(new Date(until), 1) };
      return { ids: [...ids, ...(await read(rest, 0))], until };
    };
    const ofPlans = (filters: Filter<PlanDocument>) =>
      scan(async (ids, limit) => {
        const found = await plans
          .find(
            { tenant, ...(ids && { requestId: ids }), ...filters },
            { projection: { requestId: 1 }, batchSize: window },
          )
          .sort({ requestId: direction })
          .limit(limit)
          .toArray();
        return found.map(({ requestId }) => requestId);
      });
    const failed = errorCode === undefined ? {} : { "error.code": errorCode };
    const ran = called && filter.tool === undefined ? ranWithin(called) : {};
    const wanted = { ...needs, ...failed, ...ran };
    if (tool !== undefined) {
      return [{ tool }, { "forEach.do.tool": tool }].map((step) =>
        ofPlans({ "plan.steps": { $elemMatch: step }, ...wanted }),
      );
    }
    if (needs !== undefined) return [ofPlans(wanted)];
    // A request whose planning failed has the error itself.
    const ofRequests = scan(async (ids, limit) => {
      const found = await requests
        .find({ tenant, ...failed, ...(ids && { _id: ids }) }, { projection: { _id: 1 }, batchSize: window })
        .sort({ _id: direction })
        .limit(limit)
        .toArray();
      return found.map(({ _id }) => _id);
    });
    return [ofPlans(wanted), ofRequests];
  }
}

interface Scan {
  ids: RequestId[];
  until: number | null;
}

/** Plans that ran within the time of the calls. */
function ranWithin({ from, before }: CalledTool): Filter<PlanDocument> {
  return {
    startedAt: { $ne: null, ...(before && { $lt: before }) },
    ...(from && { $or: [{ finishedAt: null }, { finishedAt: { $gte: from } }] }),
  };
}

/** Plans with the need of a filter; undefined for none. An answer is a need of the request, not of a plan. */
function needFilter({ needs }: RequestFilter): Filter<PlanDocument> | undefined {
  if (needs === undefined || needs === "answer") return undefined;
  return needs === "sign-in" ? { status: "WAITING", waitReason: needs } : { needs: { $eq: needs } };
}

/** `$eq`, so that a tag is never read as an operator. */
function tagFilter({ tag }: RequestFilter): Filter<RequestDocument> {
  return tag === undefined ? {} : { tags: { $eq: tag } };
}

function statusFilter({ status, needs }: RequestFilter): Filter<RequestDocument> {
  if (needs === "answer") {
    const isLeftOut = status && status.length > 0 && !status.includes("NEEDS_INPUT");
    return { status: { $in: isLeftOut ? [] : ["NEEDS_INPUT"] } };
  }
  return status && status.length > 0 ? { status: { $in: [...status] } } : {};
}

function textFilter({ text }: RequestFilter): Filter<RequestDocument> {
  if (text === undefined) return {};
  return { query: { $regex: patternOf(text, "i") } };
}

function created({ createdFrom, createdBefore }: RequestFilter): Document {
  if (!createdFrom && !createdBefore) return {};
  return {
    createdAt: { ...(createdFrom && { $gte: createdFrom }), ...(createdBefore && { $lt: createdBefore }) },
  };
}

/** The time range after the cursor, as bounds of the index; requests of one instant differ by id. */
function timeFilter(filter: RequestFilter, { after, direction }: Position): Document {
  const range = created(filter);
  if (!after) return range;
  const { createdAt, id } = after;
  const { beyond, upTo } = COMPARISONS[direction];
  return {
    $and: [
      range,
      { createdAt: { [upTo]: createdAt } },
      { $or: [{ createdAt: { [beyond]: createdAt } }, { createdAt, _id: { [beyond]: id } }] },
    ],
  };
}

interface IdRange {
  $gt?: RequestId;
  $gte?: RequestId;
  $lt?: RequestId;
}

/**
 * Range of ids of requests made in the time range and from the second of the cursor on. Both ends may be up to a
 * second too wide.
 */
function idRange(
  { createdFrom, createdBefore }: RequestFilter,
  { after, direction }: Position,
): IdRange | undefined {
  const from = [createdFrom, direction === 1 ? after?.createdAt : undefined].flatMap((at) => at ?? []);
  const to = [createdBefore, direction === -1 ? after?.createdAt : undefined].flatMap((at) => at ?? []);
  const ms = (dates: readonly Date[]) => dates.map((at) => at.getTime());
  const range: IdRange = {
    ...(from.length > 0 && { $gte: edge(new Date(Math.max(...ms(from))), 0) }),
    ...(to.length > 0 && { $lt: edge(new Date(Math.min(...ms(to))), 1) }),
  };
  return Object.keys(range).length > 0 ? range : undefined;
}

/** The lower bound of the ids of a second. It is not an id: the random part is missing. */
function edge(at: Date, secondsLater: number): RequestId {
  return `req_${Math.floor(at.getTime() / 1_000) + secondsLater}_` as RequestId;
}

/** The second in an id, in Unix milliseconds. */
function secondOf(id: RequestId): number {
  return Number(id.split("_")[1]) * 1_000;
}

/** The position between a second, in Unix milliseconds, and the next one. Its id has no request. */
function behindSecond(second: number, direction: Position["direction"]): RequestCursor {
  const createdAt = new Date(direction === -1 ? second - 1 : second + 1_000);
  return { createdAt, id: `${edge(createdAt, 0)}${(direction === -1 ? "z" : "0").repeat(20)}` };
}

/*
 * Decides whether a request matches a filter, from documents in memory: the same result as the list of
 * requests, without a query.
 */

/**
 * `fits`: the list contains the request. `left`: it does not, but may have contained it before. `never`: it
 * does not and never did, because the fields that differ never change.
 */
export type Fit = "fits" | "left" | "never";

/** True when {@link fitOf} needs the versions of the plan. */
export function asksForVersions({ tool, errorCode, needs }: RequestFilter): boolean {
  return tool !== undefined || errorCode !== undefined || (needs !== undefined && needs !== "answer");
}

/** Whether a request matches. Pure. @param versions - may be empty if not {@link asksForVersions} */
export function fitOf(
  filter: RequestFilter,
  request: RequestDocument,
  versions: readonly VersionHead[],
): Fit {
  if (!matchesFixedFields(filter, request)) return "never";
  const users = versions.filter(({ tools }) => filter.tool === undefined || tools.includes(filter.tool));
  // Versions are only added, and removed only with their request.
  if (filter.tool !== undefined && users.length === 0) return "never";
  return hasStatus(filter, request) && hasVersion(filter, request, users) ? "fits" : "left";
}

/** Checks the fields that are fixed when a request is accepted. */
function matchesFixedFields(
  { tag, text, createdFrom, createdBefore }: RequestFilter,
  request: RequestDocument,
): boolean {
  const { tags = [], query, createdAt } = request;
  if (tag !== undefined && !tags.includes(tag)) return false;
  if (createdFrom && createdAt < createdFrom) return false;
  if (createdBefore && createdAt >= createdBefore) return false;
  return text === undefined || (query !== null && patternOf(text, "iu").test(query));
}

/** Matches texts that contain this text in any case. Special characters are escaped. */
function patternOf(text: string, flags: "i" | "iu"): RegExp {
  return new RegExp(text.replaceAll(/[$()*+.?[\\\]^{|}]/g, String.raw`\$&`), flags);
}

function hasStatus({ status, needs }: RequestFilter, request: RequestDocument): boolean {
  if (needs === "answer" && request.status !== "NEEDS_INPUT") return false;
  return status === undefined || status.length === 0 || status.includes(request.status);
}

/** @param users - versions that use the tool of the filter */
function hasVersion(filter: RequestFilter, request: RequestDocument, users: readonly VersionHead[]): boolean {
  const { tool, errorCode } = filter;
  const need = filter.needs === "answer" ? undefined : filter.needs;
  if (!asksForVersions(filter)) return true;
  const isWanted = (version: VersionHead): boolean =>
    (errorCode === undefined || version.errorCode === errorCode) &&
    (need === undefined || version.needs.includes(need));
  if (users.some(isWanted)) return true;
  // A request whose planning failed has the error itself.
  return tool === undefined && need === undefined && request.error?.code === errorCode;
}

/** A filter of requests. All given fields have to match. */
export interface RequestFilter {
  status?: readonly RequestStatus[] | undefined;
  /** Name of a tool that a version of the plan uses. */
  tool?: string | undefined;
  /** Code of planning, of the last replan or of a version; with `tool`, of a version that uses the tool. */
  errorCode?: string | undefined;
  tag?: string | undefined;
  /** A text that the query contains, in any case. */
  text?: string | undefined;
  createdFrom?: Date | undefined;
  createdBefore?: Date | undefined;
  /** A tool that a plan of the request called, and when. Not for `fitOf`: it needs the journal. */
  called?: CalledTool | undefined;
  /** What the request needs from a person: an approval, a decision about a doubt, an answer, or a sign-in. */
  needs?: RequestNeed | undefined;
}

/** A call of a tool that was sent, or is to be sent, at a time. */
interface CalledTool {
  /** Its name as in the plan. */
  tool: string;
  from?: Date | undefined;
  before?: Date | undefined;
}

/** A need of a request: see {@link RequestFilter}. */
export type RequestNeed = "approval" | "doubt" | "answer" | "sign-in";

/** A page of the list of requests. */
export interface RequestPage {
  /** 1 to 100. */
  first: number;
  after?: string | undefined;
  filter?: RequestFilter | undefined;
  /** By time of creation, then by id. Default "newest" first. */
  order?: "newest" | "oldest" | undefined;
}
