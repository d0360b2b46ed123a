/** Bytes from `start` to before `end`. */
export interface ByteRange {
  start: number;
  end: number;
}

/**
 * What a Range header asks of so many bytes (RFC 9110, section 14). "whole" for what is to be ignored: no header, another unit, several ranges, and
 * what is no range. Pure.
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
