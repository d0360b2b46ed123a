/** Tells all of this page that a command was given: what has ended may have begun anew. */
export const acted = new EventTarget();

/** The event of {@link acted}. */
export const ACTED = "acted";
