import { CodedError } from "@planwright/plan";

/** A server or service did not become ready, or ended before. The message contains its last log lines. */
export class ProcessNotReadyError extends CodedError<{ name: string; reason: string; logFile: string }> {
  readonly code = "PROCESS_NOT_READY";
  readonly retryable = false;
  constructor(facts: { name: string; reason: string; logFile: string }, lastLines: string, cause?: unknown) {
    const log = lastLines === "" ? "It wrote nothing." : `Its last lines:\n${lastLines}`;
    super(`${facts.name} ${facts.reason}. ${log}\nThe complete log is in ${facts.logFile}`, facts, { cause });
  }
}

/** No binary of a server was found or could be obtained. The message says what to do. */
export class ServerNotAvailableError extends CodedError<{ server: string }> {
  readonly code = "SERVER_NOT_AVAILABLE";
  readonly retryable = false;
  constructor(server: string, whatToDo: string, cause?: unknown) {
    super(whatToDo, { server }, { cause });
  }
}

/** The server that MONGODB_URL or REDIS_URL names cannot be used. The message says why and what to do. */
export class ServerNotSuitableError extends CodedError<{ server: string }> {
  readonly code = "SERVER_NOT_SUITABLE";
  readonly retryable = false;
  constructor(server: string, whatToDo: string, cause?: unknown) {
    super(whatToDo, { server }, { cause });
  }
}

/** A shipped binary does not have the expected checksum. It is never run. */
export class ChecksumError extends CodedError<{ path: string; expected: string; actual: string }> {
  readonly code = "CHECKSUM_MISMATCH";
  readonly retryable = false;
  constructor(facts: { path: string; expected: string; actual: string }) {
    super(
      `${facts.path} has sha256 ${facts.actual}, expected ${facts.expected}. It was not run. Remove node_modules and install again.`,
      facts,
    );
  }
}

/** The folder for data and logs, or the system's for temporary files, cannot be used. The message says what to do. */
export class DataFolderError extends CodedError<{ folder: string }> {
  readonly code = "DATA_FOLDER_NOT_USABLE";
  readonly retryable = false;
  /** @param setting - names the folder */
  constructor(folder: string, cause: unknown, setting: "DATA_DIR" | "TMPDIR" = "DATA_DIR") {
    const reason = cause instanceof Error ? cause.message : String(cause);
    super(
      `Data cannot be stored in ${folder} (${reason}). Set ${setting} to a folder that this user may write${setting === "TMPDIR" ? ", with a short path" : ""}.`,
      { folder },
      { cause },
    );
  }
}
