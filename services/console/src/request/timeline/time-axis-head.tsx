import { durationText } from "@planwright/plan";
import { type PointerEvent, useState } from "react";
import { GAP_WIDTH, type Span, type TimeAxis } from "./axis.ts";

const HEIGHT = 28;

/** A shorter drag is a click, in pixels. */
const MIN_DRAG = 6;

/** The time labels above the lines. A drag over them zooms to that part. */
export function TimeAxisHead({
  axis,
  width,
  origin,
  onZoom,
}: {
  axis: TimeAxis;
  width: number;
  origin: number;
  onZoom: (zoom: Span) => void;
}) {
  const [drag, setDrag] = useState<{ from: number; to: number } | null>(null);
  const xOf = (event: PointerEvent<SVGSVGElement>) =>
    event.clientX - event.currentTarget.getBoundingClientRect().left;
  function end(): void {
    setDrag(null);
    if (!drag || Math.abs(drag.to - drag.from) < MIN_DRAG) return;
    const [from, to] = [drag.from, drag.to].toSorted((a, b) => a - b).map((x) => axis.timeAt(x));
    if (from !== undefined && to !== undefined && to > from) onZoom({ from, to });
  }
  return (
    <div className="timeline-axis">
      <svg
        width={width}
        height={HEIGHT}
        aria-hidden="true"
        onPointerDown={(event) => {
          event.currentTarget.setPointerCapture(event.pointerId);
          setDrag({ from: xOf(event), to: xOf(event) });
        }}
        onPointerMove={(event) => drag && setDrag({ ...drag, to: xOf(event) })}
        onPointerUp={end}
        onPointerCancel={() => setDrag(null)}
      >
        <title>Drag to look at a part</title>
        {axis.ticks.map((at) => (
          <g key={at} transform={`translate(${axis.x(at)} 0)`}>
            <line y1={HEIGHT - 6} y2={HEIGHT} className="tick" />
            <text
              x={axis.x(at) > width - 40 ? -3 : 3}
              y={16}
              textAnchor={axis.x(at) > width - 40 ? "end" : "start"}
            >
              {at === origin ? "0" : `+${durationText(at - origin)}`}
            </text>
          </g>
        ))}
        {axis.gaps.map(({ from, to, x }) => (
          <g key={from}>
            <title>{`${durationText(to - from)} without activity`}</title>
            <rect x={x} width={GAP_WIDTH} height={HEIGHT} className="idle-gap" />
            <text x={x + GAP_WIDTH / 2} y={26} textAnchor="middle" className="gap-text">
              {shortText(to - from)}
            </text>
          </g>
        ))}
        {drag && (
          <rect
            x={Math.min(drag.from, drag.to)}
            width={Math.abs(drag.to - drag.from)}
            height={HEIGHT}
            className="brush"
          />
        )}
      </svg>
    </div>
  );
}

/** The first part of a duration, because there is no space for more. */
function shortText(durationMs: number): string {
  return durationText(durationMs).split(" ").slice(0, 2).join(" ");
}
