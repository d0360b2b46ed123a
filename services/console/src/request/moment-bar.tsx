import "./moment-bar.css";
import { instantText } from "../design/text.ts";

/** A slider over the entries of the journal: every view shows the selected moment. */
export function MomentBar({
  seq,
  at,
  atMs,
  onAt,
}: {
  /** The last entry of the journal. */
  seq: number;
  /** The selected entry; null: now. */
  at: number | null;
  /** When that entry was written; null while it is not known. */
  atMs: number | null;
  onAt: (at: number | null) => void;
}) {
  const shown = Math.min(at ?? seq, seq);
  const moveTo = (entry: number) => onAt(entry >= seq ? null : Math.max(0, entry));
  const time = atMs === null ? "" : instantText(new Date(atMs).toISOString());
  const words = at === null ? `live, entry ${seq}` : `entry ${shown} of ${seq}${time && `, ${time}`}`;
  return (
    <fieldset className={`moment-bar${at === null ? "" : " is-past"}`}>
      <legend className="hidden">Moment</legend>
      <button
        type="button"
        title="Earlier entry ([)"
        disabled={shown === 0}
        onClick={() => moveTo(shown - 1)}
      >
        <span aria-hidden="true">‹</span>
        <span className="hidden">Earlier entry</span>
      </button>
      <input
        type="range"
        min={0}
        max={seq}
        value={shown}
        aria-label="Entry of the journal"
        aria-valuetext={words}
        onChange={({ target }) => moveTo(Number(target.value))}
      />
      <button type="button" title="Later entry (])" disabled={at === null} onClick={() => moveTo(shown + 1)}>
        <span aria-hidden="true">›</span>
        <span className="hidden">Later entry</span>
      </button>
      {at === null ? (
        <span className="moment-words">
          <span className="live-dot" aria-hidden="true">
            ●
          </span>{" "}
          {words}
        </span>
      ) : (
        <>
          <strong className="moment-words">As it was at {words}</strong>
          <button type="button" className="primary-button" onClick={() => onAt(null)}>
            Back to live
          </button>
        </>
      )}
    </fieldset>
  );
}
