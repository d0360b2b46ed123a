/** Notifies the streams of this page that a command was sent: a request that has ended may run again. */
export const acted = new EventTarget();

/** The event of {@link acted}. */
export const ACTED = "acted";
