/** Waits for it, until the signal is aborted: then it rejects with what `reasonOf` makes. */
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
