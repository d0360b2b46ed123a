import { countText } from "@planwright/plan";
import type { ReactNode } from "react";
import { Link } from "wouter";
import { READ_FLEET, READ_OFFER } from "../data/catalogue-operations.ts";
import { useRegularRead } from "../data/use-api.ts";
import { Button, Mark } from "../parts/elements.tsx";
import { deskPath } from "../parts/paths.ts";

/** Short, because a person who sets the system up waits for the change. */
const READ_EVERY_MS = 5_000;

/** The tools of the demo, and a sentence for them that the offline drafter understands too. */
const DEMO_TOOL = "createAuthor";
const DEMO_SENTENCE = "Create author Alice with email alice@test.com";

/** An empty system: a first sentence, what happens with it, the tools and the model; each with its state. */
export function FirstRun({ onTry }: { onTry: (sentence: string) => void }) {
  const offer = useRegularRead(READ_OFFER, {}, READ_EVERY_MS).data;
  const fleet = useRegularRead(READ_FLEET, {}, READ_EVERY_MS).data?.fleet;
  const tools = offer?.getAvailableTools ?? [];
  const servers = offer?.toolServers ?? [];
  const planners = fleet?.workers.filter(({ kind, takesWork }) => kind === "PLANNER" && takesWork) ?? [];
  const hasModel = planners.some((planner) => planner.hasModel === true);
  const sentence = exampleOf(tools);
  return (
    <section className="card first-run" aria-label="First run">
      <header className="card-head">
        <h2>There is no request yet</h2>
      </header>
      <ol>
        <Stage
          isDone={tools.length > 0}
          title={
            tools.length > 0
              ? `Your tools are connected: ${countText(tools.length, "tool")} of ${countText(servers.length, "server")}`
              : "Connect your tools"
          }
        >
          Plans call tools of MCP servers. Name yours in the servers file of the executors (MCP_SERVERS_FILE).{" "}
          <Link href="/tools">Tools and servers</Link>
        </Stage>
        <Stage
          isDone={hasModel}
          title={
            hasModel
              ? "Model: a planner has one"
              : planners.length > 0
                ? "Model: none is set, so only simple sentences are understood"
                : "No planner takes work, so a sentence would wait"
          }
        >
          Start the planner with MODEL, such as MODEL=openai:gpt-4o, and the key of its provider.{" "}
          <Link href="/fleet">Executors and planners</Link>
        </Stage>
        <Stage isDone={false} title="Try a sentence">
          {sentence === null ? (
            <>
              Write above what to do, or <Link href={deskPath()}>write a plan</Link>.
            </>
          ) : (
            <>
              <Button kind="primary" onClick={() => onTry(sentence)}>
                Try “{sentence}”
              </Button>{" "}
              or <Link href={deskPath()}>write a plan</Link>
            </>
          )}
        </Stage>
        <Stage isDone={false} title="See what happened">
          The page of the request shows its plan as a graph, each call with its arguments and output, and the
          journal of everything that happened.
        </Stage>
      </ol>
    </section>
  );
}

function Stage({ isDone, title, children }: { isDone: boolean; title: string; children: ReactNode }) {
  return (
    <li className={`stage ${isDone ? "tone-good" : "tone-quiet"}`}>
      <span className="stage-mark">
        <Mark mark={isDone ? "✔" : "○"} />
      </span>
      <div>
        <h3>
          {title}
          {isDone && <span className="hidden">: done</span>}
        </h3>
        <p className="quiet-text">{children}</p>
      </div>
    </li>
  );
}

/** A tool as its example needs it. */
interface OfferedTool {
  name: string;
  annotations: unknown;
}

/** A sentence to try with the tools that there are: it only reads, or is that of the demo. Null without such a tool. Pure. */
export function exampleOf(tools: readonly OfferedTool[]): string | null {
  if (tools.some(({ name }) => name === DEMO_TOOL)) return DEMO_SENTENCE;
  const reading = tools.find(
    ({ name, annotations }) => isReadOnly(annotations) && /^(?:list|search|find|get)/iu.test(name),
  );
  return reading ? wordsOf(reading.name) : null;
}

function isReadOnly(annotations: unknown): boolean {
  return (
    typeof annotations === "object" &&
    annotations !== null &&
    "readOnlyHint" in annotations &&
    annotations.readOnlyHint === true
  );
}

/** "listInvoices" and "list_invoices" as words: "List invoices". */
function wordsOf(name: string): string {
  const words = name
    .replace(/^.*\//u, "")
    .replace(/(\p{Ll})(\p{Lu})/gu, "$1 $2")
    .replace(/[_.-]+/gu, " ")
    .toLowerCase();
  return words.charAt(0).toUpperCase() + words.slice(1);
}
