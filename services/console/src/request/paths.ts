/** The views of a request, in the order of their tabs. */
export const VIEWS = ["results", "graph", "timeline", "steps", "journal", "model calls", "versions"] as const;
export type View = (typeof VIEWS)[number];

/** The part of an address that names the object. */
export interface NamedPlace {
  requestId: string;
  /** Null: the current version. */
  version: number | null;
  /** The key of the selected step or item, such as `each[3]`. */
  stepId: string | null;
}

/** The part of an address that names the view. */
export interface ShownAs {
  /** Null: the results of a request that has completed, otherwise the graph. */
  view: View | null;
  /** The entry of the journal whose moment is shown; null: now. */
  at: number | null;
}

/** Everything that the address of a request's page names. */
export interface RequestPlace extends NamedPlace, ShownAs {}

/**
 * The address of a place: `/r/{requestId}/v/{version}/s/{stepId}?view=journal&at=12`.
 * @param place - without `at`: now
 */
export function requestPath({
  requestId,
  version,
  stepId,
  view,
  at = null,
}: NamedPlace & { view: View | null; at?: number | null }): string {
  const parts = [
    `/r/${encodeURIComponent(requestId)}`,
    version === null ? "" : `/v/${version}`,
    stepId === null ? "" : `/s/${encodeURIComponent(stepId)}`,
  ];
  const search = new URLSearchParams();
  if (view !== null) search.set("view", view);
  if (at !== null) search.set("at", String(at));
  return `${parts.join("")}${search.size === 0 ? "" : `?${search.toString()}`}`;
}

/** The place that a path of the console names; null for a path that names no request. */
export function placeOf(path: string): NamedPlace | null {
  const found = /^\/r\/([^/]+)(?:\/v\/([1-9][0-9]{0,8}))?(?:\/s\/([^/]+))?\/?$/.exec(path);
  if (!found?.[1]) return null;
  const [, requestId, version, stepId] = found;
  try {
    return {
      requestId: decodeURIComponent(requestId ?? ""),
      version: version === undefined ? null : Number(version),
      stepId: stepId === undefined ? null : decodeURIComponent(stepId),
    };
  } catch {
    return null;
  }
}

/** Reads the view from the search of an address. Unreadable parts mean the view that fits, and now. */
export function shownAs(search: string): ShownAs {
  const named = new URLSearchParams(search);
  const at = named.get("at") ?? "";
  return {
    view: VIEWS.find((view) => view === named.get("view")) ?? null,
    at: /^[0-9]{1,9}$/.test(at) ? Number(at) : null,
  };
}

/** The id of the step of a key; for an item, of its list. */
export function stepIdOf(key: string): string {
  return key.replace(/\[\d+\]$/, "");
}
