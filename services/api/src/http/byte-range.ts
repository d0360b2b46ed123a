/** Bytes from `start` to before `end`. */
export interface ByteRange {
  start: number;
  end: number;
}

/**
 * Parses a Range header (RFC 9110, section 14). "whole" when the header must be ignored: it is missing,
 * invalid, or has another unit or several ranges. Pure.
 */
export function parseByteRange(
  header: string | undefined,
  sizeBytes: number,
): ByteRange | "whole" | "unsatisfiable" {
  const [, first, last] = /^bytes=[ \t]*(\d{0,15})-(\d{0,15})[ \t]*$/i.exec(header ?? "") ?? [];
  if (first === undefined || last === undefined || (first === "" && last === "")) return "whole";
  if (first === "") {
    const length = Math.min(sizeBytes, Number(last));
    return length === 0 ? "unsatisfiable" : { start: sizeBytes - length, end: sizeBytes };
  }
  const start = Number(first);
  if (last !== "" && Number(last) < start) return "whole";
  if (start >= sizeBytes) return "unsatisfiable";
  return { start, end: last === "" ? sizeBytes : Math.min(sizeBytes, Number(last) + 1) };
}
