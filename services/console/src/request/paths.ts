/** The views of a request, in the order of their tabs. */
export const VIEWS = ["graph", "timeline", "steps", "journal", "model calls"] as const;
export type View = (typeof VIEWS)[number];

/** The view that an address names; the graph for one that names none. */
export function viewOf(name: string | null): View {
  return VIEWS.find((view) => view === name) ?? "graph";
}

/** What a page of a request shows. */
export interface RequestPlace {
  requestId: string;
  /** Null: the current one, whichever that is. */
  version: number | null;
  stepId: string | null;
  view: View;
}

/** The address of a place: `/r/{requestId}/v/{version}/s/{stepId}?view=journal`. */
export function requestPath({ requestId, version, stepId, view }: RequestPlace): string {
  const parts = [
    `/r/${encodeURIComponent(requestId)}`,
    version === null ? "" : `/v/${version}`,
    stepId === null ? "" : `/s/${encodeURIComponent(stepId)}`,
  ];
  return `${parts.join("")}${view === "graph" ? "" : `?view=${encodeURIComponent(view)}`}`;
}

/** The place that a path of the console names; null for a path that names no request. */
export function placeOf(
  path: string,
): { requestId: string; version: number | null; stepId: string | null } | null {
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
