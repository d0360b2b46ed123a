import type { StatusLook } from "../design/statuses.ts";

/** A status with its mark, word and colour. */
export function StatusBadge({ look }: { look: StatusLook }) {
  return (
    <span className={`badge tone-${look.tone}`}>
      <span aria-hidden="true">{look.mark}</span> {look.word}
    </span>
  );
}
