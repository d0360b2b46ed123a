/**
 * The wait before a connection to Redis is tried again, in milliseconds: 50, doubling up to a maximum. For
 * the option `retryStrategy` of ioredis.
 */
export function reconnectDelay(maxMs: number): (times: number) => number {
  return (times) => Math.min(50 * 2 ** Math.min(times, 10), maxMs);
}
