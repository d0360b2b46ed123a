import { CodedError } from "@planwright/plan";

/** The servers file cannot be used. Names the file, and the server and field with the error, if any. */
export class ServersFileError extends CodedError<{
  file: string;
  problems: { server?: string | undefined; field?: string | undefined; message: string }[];
}> {
  readonly code = "SERVERS_FILE_INVALID";
  readonly retryable = false;
  constructor(
    file: string,
    problems: { server?: string | undefined; field?: string | undefined; message: string }[],
    cause?: unknown,
  ) {
    const lines = problems.map(({ server, field, message }) => {
      const where = [server === undefined ? undefined : `server "${server}"`, field]
        .filter(Boolean)
        .join(", ");
      return where === "" ? message : `${where}: ${message}`;
    });
    super(`Servers file ${file}: ${lines.join("; ")}`, { file, problems }, { cause });
  }
}
