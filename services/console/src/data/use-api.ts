import {
  ApiRefusedError,
  type Client,
  createClient,
  isTemporary,
  NotTheApiError,
  type Operation,
} from "@planwright/client";
import { createContext, useContext, useEffect, useRef, useState } from "react";
import { useIsVisible } from "./browser.ts";

/** The result of a query. */
export interface Read<Result> {
  /** Null before the first answer, and after an error. */
  data: Result | null;
  problem: ApiProblem | null;
}

/** Wait before a query without an answer is sent again, in milliseconds. */
const READ_AGAIN_MS = 2_000;

/**
 * The answer to a query, which is sent again when its variables change, and after a problem that may pass. It is
 * never the answer to earlier variables.
 * @param variables - null: nothing is sent
 * @param revision - the query is also sent again when this changes; the last answer stays until the new one
 * arrives
 */
export function useRead<Result, Variables extends object>(
  operation: Operation<Result, Variables>,
  variables: Variables | null,
  revision: string | number = 0,
): Read<Result> {
  const client = useClient();
  const [read, setRead] = useState<Read<Result> & { key: string }>({ key: "", data: null, problem: null });
  const key = JSON.stringify(variables);
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new revision sends it again.
  useEffect(() => {
    const wanted = JSON.parse(key) as Variables | null;
    if (wanted === null) return;
    const controller = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const send = () =>
      client.execute(operation, wanted, { signal: controller.signal }).then(
        (data) => setRead({ key, data, problem: null }),
        (error: unknown) => {
          if (controller.signal.aborted) return;
          const problem = problemOf(error);
          setRead({ key, data: null, problem });
          if (problem.isTemporary) timer = setTimeout(() => void send(), READ_AGAIN_MS);
        },
      );
    void send();
    return () => {
      controller.abort();
      clearTimeout(timer);
    };
  }, [client, operation, key, revision]);
  return read.key === key ? read : { data: null, problem: null };
}

/** Notifies the streams of this page that a command was sent: a request that has ended may run again. */
export const acted = new EventTarget();

/** The event of {@link acted}. */
export const ACTED = "acted";

/** An error of a call of the API, for people. */
export interface ApiProblem {
  /** `extensions.code` of the API, or API_UNREACHABLE when there was no answer. */
  code: string;
  message: string;
  remedy: string | null;
  /** True when the same call may succeed later. */
  isTemporary: boolean;
  /** Ids of the steps whose effects the change would repeat. Absent: another problem. */
  repeats?: readonly string[];
  /** Accepts these repeats and makes the change. */
  accept?: () => void;
}

/** What follows a call without an answer. */
const AFTER_NO_ANSWER = {
  again: "It is tried again automatically. If this stays, check whether the service runs: GET /healthz.",
  read: "Try it once more. If this stays, check whether the service runs: GET /healthz.",
  command: "It is not known whether this was done: look at it before you try once more.",
  keyed: "It is not known whether this was done. Try it once more: it is not done twice.",
} as const;

/**
 * Describes an error of a call for people. Any other error is a fault of this page and is thrown again.
 * @param then - what follows: the page tries it again, a person reads it once more, or the call was a command, with
 * an idempotency key or without
 */
export function problemOf(error: unknown, then: keyof typeof AFTER_NO_ANSWER = "again"): ApiProblem {
  if (error instanceof ApiRefusedError) {
    const { code, remedy } = error.facts;
    const problem = { code, message: error.message, remedy, isTemporary: isTemporary(error) };
    const ids = error.fact("acceptRepeat");
    const isRepeat = code === "REPEAT_NOT_ACCEPTED" && Array.isArray(ids);
    return isRepeat ? { ...problem, repeats: ids.filter((id) => typeof id === "string") } : problem;
  }
  const remedy = AFTER_NO_ANSWER[then];
  if (error instanceof NotTheApiError) {
    return {
      code: error.code,
      message: `Another server answers in place of the API (HTTP ${error.facts.status})`,
      remedy: `A proxy may want you to sign in: reload this page. ${remedy}`,
      isTemporary: true,
    };
  }
  if (!isTemporary(error)) throw error;
  return { code: "API_UNREACHABLE", message: "The API does not answer", remedy, isTemporary: true };
}

/**
 * The client of the API that served this page.
 * @param token - an API key or a token; it stays in the memory of this page
 * @param onKeyNeeded - called when the API refuses a call because it does not know the caller
 */
export function createPageClient(token: string | undefined, onKeyNeeded: () => void): Client {
  const client = createClient({ url: new URL("/graphql", location.href).href, token });
  const look = (error: unknown): never => {
    if (error instanceof ApiRefusedError && error.facts.code === "UNAUTHENTICATED") onKeyNeeded();
    throw error;
  };
  return {
    ...client,
    execute: async (...call) => client.execute(...call).catch(look),
    async *subscribe(...call) {
      try {
        yield* client.subscribe(...call);
      } catch (error) {
        look(error);
      }
    },
  };
}

/** The context of the client with which the page calls the API. */
export const ClientContext = createContext<Client | null>(null);

/** The client of the page. */
export function useClient(): Client {
  const client = useContext(ClientContext);
  if (!client) throw new TypeError("useClient is called outside of ClientContext");
  return client;
}

/** A command of the API, and its result. */
export interface Action<Result, Variables> {
  /** The answer; null when the command was refused. */
  run: (variables: Variables) => Promise<Result | null>;
  isPending: boolean;
  problem: ApiProblem | null;
}

/** A command without an answer, with its idempotency key. */
interface Unanswered {
  /** Its variables without the key. */
  text: string;
  key: string;
}

/** The variables as a text, without their idempotency key. */
const withoutKey = (variables: object): string => JSON.stringify({ ...variables, idempotencyKey: null });

/**
 * A mutation for a button: the button is disabled while it is pending, and a refusal is shown. When effects would
 * be repeated, the note lists them, and the mutation is sent again once the operator has accepted them. One without
 * an answer keeps its idempotency key: pressed again with the same variables it is the same command.
 */
export function useAction<Result, Variables extends object>(
  operation: Operation<Result, Variables>,
): Action<Result, Variables> {
  const client = useClient();
  const [isPending, setIsPending] = useState(false);
  const [problem, setProblem] = useState<ApiProblem | null>(null);
  const unanswered = useRef<Unanswered | null>(null);
  return {
    isPending,
    problem,
    run: async (given) => {
      const text = withoutKey(given);
      const known = unanswered.current?.text === text ? { idempotencyKey: unanswered.current.key } : {};
      const variables = { ...given, ...known };
      const key = "idempotencyKey" in variables ? String(variables.idempotencyKey) : null;
      const accepted = new Set<string>();
      for (;;) {
        setIsPending(true);
        try {
          const more = accepted.size > 0 ? { acceptRepeat: [...accepted] } : {};
          const result = await client.execute(operation, { ...variables, ...more });
          unanswered.current = null;
          setProblem(null);
          acted.dispatchEvent(new Event(ACTED));
          return result;
        } catch (error) {
          const found = problemOf(error, key === null ? "command" : "keyed");
          unanswered.current = key !== null && found.isTemporary ? { text, key } : null;
          const repeats = found.repeats?.filter((id) => !accepted.has(id)) ?? [];
          if (repeats.length === 0) {
            setProblem(found);
            return null;
          }
          setIsPending(false);
          await new Promise<void>((accept) => setProblem({ ...found, repeats, accept }));
          const named = "acceptRepeat" in variables ? variables.acceptRepeat : [];
          for (const id of [...(Array.isArray(named) ? named : []), ...repeats]) accepted.add(String(id));
        } finally {
          setIsPending(false);
        }
      }
    },
  };
}

/** The newest answer to a polled query. */
interface RegularRead<Result> {
  /** Null before the first answer; the last answer stays while the API cannot be reached. */
  data: Result | null;
  problem: ApiProblem | null;
  /** When the newest answer arrived, in milliseconds; null before the first. */
  readAt: number | null;
}

/**
 * Polls a query that has no feed while the page is visible. After a refusal that is not retryable it stops.
 * @param everyMs - wait from an answer to the next query
 */
export function useRegularRead<Result, Variables extends object>(
  operation: Operation<Result, Variables>,
  variables: Variables,
  everyMs: number,
): RegularRead<Result> {
  const client = useClient();
  const isVisible = useIsVisible();
  const [read, setRead] = useState<RegularRead<Result>>({ data: null, problem: null, readAt: null });
  const key = JSON.stringify(variables);
  useEffect(() => {
    if (!isVisible) return;
    const controller = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const schedule = () => {
      if (!controller.signal.aborted) timer = setTimeout(() => void poll(), everyMs);
    };
    async function poll(): Promise<void> {
      try {
        const data = await client.execute(operation, JSON.parse(key) as Variables, {
          signal: controller.signal,
        });
        setRead({ data, problem: null, readAt: Date.now() });
        schedule();
      } catch (error) {
        if (controller.signal.aborted) return;
        const problem = problemOf(error);
        setRead((before) => ({ ...before, problem }));
        if (problem.isTemporary) schedule();
      }
    }
    void poll();
    return () => {
      controller.abort();
      clearTimeout(timer);
    };
  }, [client, operation, key, everyMs, isVisible]);
  return read;
}
