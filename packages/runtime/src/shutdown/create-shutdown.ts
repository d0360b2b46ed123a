import type { Logger } from "../logging/create-logger.ts";

/** Options of {@link createShutdown}. */
export interface ShutdownOptions {
  logger: Pick<Logger, "info" | "error" | "fatal">;
  /**
   * Timeout of all steps together, in milliseconds; then the process ends without the remaining steps.
   * Default 30,000.
   */
  timeoutMs?: number;
  /** The process to observe and to end; default: this one. */
  process?: Pick<NodeJS.Process, "on" | "exit">;
}

/** The shutdown of a service. */
export interface Shutdown {
  /**
   * Adds a step. Steps run one after another in the order of adding; a failed one is logged, and the others
   * still run.
   */
  add(name: string, step: () => unknown): void;
  /** Runs the steps and ends the process. Further calls wait for the first. @param exitCode - default 0 */
  run(reason: string, exitCode?: number): Promise<void>;
  /** Aborted when the shutdown begins; for `/readyz` and for long waits. */
  readonly signal: AbortSignal;
}

/**
 * Shuts the process down on SIGTERM and SIGINT (exit code 0), and on an uncaught error (logged as fatal, exit
 * code 1): its state is unknown then, so other processes take over. A second signal ends the process at once.
 */
export function createShutdown(options: ShutdownOptions): Shutdown {
  const { logger, timeoutMs = 30_000, process: process_ = process } = options;
  const steps: { name: string; step: () => unknown }[] = [];
  const controller = new AbortController();
  let running: Promise<void> | undefined;

  async function runSteps(reason: string, exitCode: number): Promise<void> {
    logger.info({ reason }, "stopping");
    controller.abort();
    let current = "";
    const deadline = setTimeout(() => {
      logger.error({ step: current, timeoutMs }, "stopping took too long");
      process_.exit(1);
    }, timeoutMs);
    let failed = false;
    for (const { name, step } of steps) {
      current = name;
      try {
        await step();
      } catch (error) {
        failed = true;
        logger.error({ err: error, step: name }, "a step of stopping failed");
      }
    }
    clearTimeout(deadline);
    logger.info({ reason }, "stopped");
    process_.exit(failed && exitCode === 0 ? 1 : exitCode);
  }
  const run = (reason: string, exitCode = 0): Promise<void> => {
    running ??= runSteps(reason, exitCode);
    return running;
  };
  const onSignal = (name: NodeJS.Signals) => {
    if (running) process_.exit(1);
    else void run(name);
  };
  const onError = (error: unknown) => {
    logger.fatal({ err: error }, "uncaught error");
    void run("error", 1);
  };
  process_.on("SIGTERM", onSignal);
  process_.on("SIGINT", onSignal);
  process_.on("uncaughtException", onError);
  process_.on("unhandledRejection", onError);
  return { add: (name, step) => void steps.push({ name, step }), run, signal: controller.signal };
}
