/**
 * The same server with another database; the options in the URL are kept. Users log in where they did before:
 * without `authSource` the database of the URL names that place.
 */
export function withDatabase(url: string, database: string): string {
  const [, start = url, before = "", options = ""] =
    /^(mongodb(?:\+srv)?:\/\/[^/?]+)(?:\/([^?]*))?(?:\?(.*))?$/.exec(url) ?? [];
  const authSource =
    start.includes("@") && !/(?:^|&)authSource=/.test(options) ? `authSource=${before || "admin"}` : "";
  const query = [options, authSource].filter((part) => part !== "").join("&");
  return `${start}/${database}${query && `?${query}`}`;
}
