/** A span of time, in milliseconds since the epoch. */
export interface Span {
  from: number;
  to: number;
}

/** An idle span, drawn with a fixed width. */
export interface IdleGap extends Span {
  x: number;
}

/** Maps times to positions. */
export interface TimeAxis {
  /** The position of a time, from 0 to the width. Times outside are at the ends. */
  x: (at: number) => number;
  /** The time at a position. */
  timeAt: (x: number) => number;
  gaps: readonly IdleGap[];
  /** The times of the ticks, at round distances from the origin. */
  ticks: readonly number[];
}

/** Width of a folded gap, in pixels. */
export const GAP_WIDTH = 44;

/**
 * An idle span is folded if it has at least this length, in milliseconds, and is at least this part of the
 * axis.
 */
const GAP_MS = 2_000;
const GAP_PART = 0.25;

/** Distance of two ticks that leaves enough space for their labels, in pixels. */
const TICK_WIDTH = 84;

interface Segment extends Span {
  x: number;
  width: number;
  isGap: boolean;
}

/**
 * An axis from the beginning of a span to its end. Long idle spans are folded.
 * @param busy - spans with activity, in any order
 * @param options - origin: the time from which ticks are counted
 */
export function createAxis(
  busy: readonly Span[],
  whole: Span,
  { width, origin }: { width: number; origin: number },
): TimeAxis {
  const segments = placed(segmentsOf(busy, whole), width);
  const find = (isBefore: (segment: Segment) => boolean) => segments.find(isBefore) ?? segments.at(-1);
  return {
    x(at) {
      const segment = find(({ to }) => at <= to);
      if (!segment) return 0;
      const part = (at - segment.from) / Math.max(1, segment.to - segment.from);
      return segment.x + Math.min(1, Math.max(0, part)) * segment.width;
    },
    timeAt(x) {
      const segment = find((one) => x <= one.x + one.width);
      if (!segment) return whole.from;
      const part = (x - segment.x) / Math.max(1, segment.width);
      return segment.from + Math.min(1, Math.max(0, part)) * (segment.to - segment.from);
    },
    gaps: segments.filter(({ isGap }) => isGap),
    ticks: ticksOf(segments, origin),
  };
}

/** The idle spans that are long enough to be folded. */
export function idleGaps(busy: readonly Span[], { from, to }: Span): Span[] {
  const least = Math.max(GAP_MS, (to - from) * GAP_PART);
  const gaps: Span[] = [];
  let end = from;
  for (const span of busy.toSorted((a, b) => a.from - b.from)) {
    if (Math.min(span.from, to) - end >= least) gaps.push({ from: end, to: Math.min(span.from, to) });
    end = Math.max(end, span.to);
  }
  if (to - end >= least) gaps.push({ from: end, to });
  return gaps;
}

function segmentsOf(busy: readonly Span[], whole: Span): (Span & { isGap: boolean })[] {
  const segments: (Span & { isGap: boolean })[] = [];
  let end = whole.from;
  for (const gap of idleGaps(busy, whole)) {
    if (gap.from > end) segments.push({ from: end, to: gap.from, isGap: false });
    segments.push({ ...gap, isGap: true });
    end = gap.to;
  }
  if (whole.to > end || segments.length === 0) segments.push({ from: end, to: whole.to, isGap: false });
  return segments;
}

function placed(segments: readonly (Span & { isGap: boolean })[], width: number): Segment[] {
  const open = segments.filter(({ isGap }) => !isGap);
  const openMs = Math.max(
    1,
    open.reduce((sum, { from, to }) => sum + to - from, 0),
  );
  const openWidth = Math.max(0, width - (segments.length - open.length) * GAP_WIDTH);
  let x = 0;
  return segments.map((segment) => {
    const segmentWidth = segment.isGap ? GAP_WIDTH : ((segment.to - segment.from) / openMs) * openWidth;
    const at = x;
    x += segmentWidth;
    return { ...segment, x: at, width: segmentWidth };
  });
}

/**
 * 1, 2 or 5 times a power of ten milliseconds; from a minute on, of minutes, and from an hour on, of hours.
 */
function roundStep(least: number): number {
  const unit = least < 60_000 ? 1 : least < 3_600_000 ? 60_000 : 3_600_000;
  const power = 10 ** Math.floor(Math.log10(least / unit));
  const factor = [1, 2, 5, 10].find((one) => one * power * unit >= least) ?? 10;
  return factor * power * unit;
}

function ticksOf(segments: readonly Segment[], origin: number): number[] {
  const ticks: number[] = [];
  let last = Number.NEGATIVE_INFINITY;
  for (const { from, to, x, width, isGap } of segments) {
    if (isGap || width < 1) continue;
    const step = roundStep(Math.max(1, ((to - from) * TICK_WIDTH) / width));
    for (let at = origin + Math.ceil((from - origin) / step) * step; at <= to; at += step) {
      const place = x + ((at - from) / Math.max(1, to - from)) * width;
      if (place - last < TICK_WIDTH * 0.9) continue;
      ticks.push(at);
      last = place;
    }
  }
  return ticks;
}
