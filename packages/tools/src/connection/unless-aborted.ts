/** Waits for a promise until the signal is aborted; then rejects with the error that `reasonOf` makes. */
export function unlessAborted<T>(
  promise: Promise<T>,
  signal: AbortSignal,
  reasonOf: () => Error,
): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(reasonOf());
    if (signal.aborted) abort();
    signal.addEventListener("abort", abort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", abort));
  });
}
