import { ApiRefusedError, isTemporary } from "@planwright/client";

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

/** Describes an error of a call for people. Any other error is a fault of this page and is thrown again. */
export function problemOf(error: unknown): ApiProblem {
  if (error instanceof ApiRefusedError) {
    const { code, remedy } = error.facts;
    const problem = { code, message: error.message, remedy, isTemporary: isTemporary(error) };
    const ids = error.fact("acceptRepeat");
    const isRepeat = code === "REPEAT_NOT_ACCEPTED" && Array.isArray(ids);
    return isRepeat ? { ...problem, repeats: ids.filter((id) => typeof id === "string") } : problem;
  }
  if (!isTemporary(error)) throw error;
  return {
    code: "API_UNREACHABLE",
    message: "The API does not answer",
    remedy: "It is tried again automatically. If this stays, check whether the service runs: GET /healthz.",
    isTemporary: true,
  };
}
