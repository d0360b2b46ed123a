import type { Span } from "./axis.ts";

/** The shortest span that can be shown, in milliseconds. */
const MIN_SPAN_MS = 20;

/** A zoom by this factor around the middle, within the whole span; null for the whole span. */
export function zoomed({ from, to }: Span, whole: Span, factor: number): Span | null {
  const half = Math.max(MIN_SPAN_MS, (to - from) * factor) / 2;
  const middle = (from + to) / 2;
  return within({ from: middle - half, to: middle + half }, whole);
}

/** A zoom moved by a part of its length, within the whole span. */
export function moved({ from, to }: Span, whole: Span, part: number): Span | null {
  const by = Math.max(whole.from - from, Math.min(whole.to - to, (to - from) * part));
  return within({ from: from + by, to: to + by }, whole);
}

function within(span: Span, whole: Span): Span | null {
  const from = Math.max(whole.from, span.from);
  const to = Math.min(whole.to, span.to);
  return from <= whole.from && to >= whole.to ? null : { from, to };
}

/** Buttons for the zoom, which a drag over the time labels also sets. */
export function ZoomButtons({
  whole,
  zoom,
  onZoom,
}: {
  whole: Span;
  zoom: Span | null;
  onZoom: (zoom: Span | null) => void;
}) {
  const shown = zoom ?? whole;
  const buttons = [
    { label: "Earlier", mark: "←", isOff: zoom === null, press: () => moved(shown, whole, -0.5) },
    { label: "Later", mark: "→", isOff: zoom === null, press: () => moved(shown, whole, 0.5) },
    { label: "Zoom out", mark: "−", isOff: zoom === null, press: () => zoomed(shown, whole, 2) },
    { label: "Zoom in", mark: "+", isOff: false, press: () => zoomed(shown, whole, 0.5) },
  ];
  return (
    <fieldset className="zoom-buttons">
      <legend className="hidden">Part of the time</legend>
      {buttons.map(({ label, mark, isOff, press }) => (
        <button key={label} type="button" title={label} disabled={isOff} onClick={() => onZoom(press())}>
          <span aria-hidden="true">{mark}</span>
          <span className="hidden">{label}</span>
        </button>
      ))}
      <button type="button" disabled={zoom === null} onClick={() => onZoom(null)}>
        Whole time
      </button>
    </fieldset>
  );
}
