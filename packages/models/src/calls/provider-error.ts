/** Reads the errors of providers' libraries, which are untrusted data. */

/** The HTTP status of the provider's answer; null when there was none. */
export function httpStatus(error: unknown): number | null {
  const status = fieldOf(error, "status") ?? fieldOf(error, "statusCode");
  return typeof status === "number" && status >= 100 && status < 600 ? status : null;
}

/** Names of an error's class and of its causes. */
export function errorNames(error: unknown): string[] {
  const names: string[] = [];
  for (let each = error; each instanceof Error && names.length < 10; each = each.cause) {
    names.push(each.name, each.constructor.name);
  }
  return names;
}

/**
 * The provider's error codes: OpenAI's `code` and `type`, Anthropic's `error.type`, the reasons in Google's
 * details.
 */
export function providerReasons(error: unknown): ReadonlySet<string> {
  const body = bodyOf(error);
  const found = [
    fieldOf(error, "code"),
    fieldOf(error, "type"),
    fieldOf(body, "code"),
    fieldOf(body, "type"),
  ];
  for (const detail of detailsOf(body)) found.push(fieldOf(detail, "reason"));
  return new Set(found.filter((reason) => typeof reason === "string"));
}

/** Maximum wait that a provider can request, in milliseconds. */
const MAX_RETRY_AFTER_MS = 3_600_000;

/**
 * The wait that the provider requests, in milliseconds, at most one hour: `retry-after-ms`, `Retry-After` in
 * seconds or as a date, or Google's RetryInfo. Null without a request.
 */
export function retryAfterMs(error: unknown, nowMs: number): number | null {
  const headers = fieldOf(error, "headers");
  const header = (name: string) => {
    const value = headers instanceof Headers ? headers.get(name) : fieldOf(headers, name);
    return typeof value === "string" && value.trim() !== "" ? value.trim() : null;
  };
  const exact = header("retry-after-ms");
  const after = header("retry-after");
  const waits = [
    exact === null ? Number.NaN : Number(exact),
    after === null ? Number.NaN : Number(after) * 1_000,
    after === null ? Number.NaN : Date.parse(after) - nowMs,
    ...detailsOf(bodyOf(error)).map(retryDelayMs),
  ];
  const wait = waits.find((each) => Number.isFinite(each));
  return wait === undefined ? null : Math.min(Math.max(wait, 0), MAX_RETRY_AFTER_MS);
}

/** `{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "17s"}`. */
function retryDelayMs(detail: unknown): number {
  const delay = fieldOf(detail, "retryDelay");
  const seconds = typeof delay === "string" ? /^(\d{1,6}(?:\.\d{1,9})?)s$/.exec(delay)?.[1] : undefined;
  return seconds === undefined ? Number.NaN : Number(seconds) * 1_000;
}

/** OpenAI and Anthropic: `error` of the error, one level deeper with Anthropic; Google: `data.error`. */
function bodyOf(error: unknown): unknown {
  const body = fieldOf(error, "error") ?? fieldOf(fieldOf(error, "data"), "error");
  return fieldOf(body, "error") ?? body;
}

const MAX_DETAILS = 20;

function detailsOf(body: unknown): unknown[] {
  const details = fieldOf(body, "details");
  return Array.isArray(details) ? details.slice(0, MAX_DETAILS) : [];
}

function fieldOf(holder: unknown, key: string): unknown {
  return typeof holder === "object" && holder !== null ? Reflect.get(holder, key) : undefined;
}
