import { expect, test, vi } from "vitest";
import { startHeartbeat } from "./start-heartbeat.ts";

test("a process says that it is alive before it starts, then again and again, and at last that it has stopped", async () => {
  vi.useFakeTimers();
  try {
    const said: string[] = [];
    const heartbeat = await startHeartbeat({
      beat: async () => void said.push("alive"),
      end: async () => void said.push("stopped"),
      onError: () => undefined,
    });
    expect(said).toEqual(["alive"]);
    await vi.advanceTimersByTimeAsync(2_000);
    await heartbeat.stop();
    await heartbeat.stop();
    await vi.advanceTimersByTimeAsync(5_000);
    expect(said).toEqual(["alive", "alive", "alive", "stopped"]);
  } finally {
    vi.useRealTimers();
  }
});

test("a beat that fails is told, and the next one comes; none begins while one is under way", async () => {
  vi.useFakeTimers();
  try {
    const errors: unknown[] = [];
    let beats = 0;
    let release: () => void = () => undefined;
    const heartbeat = await startHeartbeat({
      beat: async () => {
        beats += 1;
        if (beats === 2) throw new TypeError("no connection");
        if (beats === 3) await new Promise<void>((resolve) => (release = resolve));
      },
      end: async () => undefined,
      onError: (error) => errors.push(error),
    });
    await vi.advanceTimersByTimeAsync(5_000);
    expect({ beats, errors }).toEqual({ beats: 3, errors: [new TypeError("no connection")] });
    release();
    await heartbeat.stop();
  } finally {
    vi.useRealTimers();
  }
});
