import { numberText, STATE_LOOKS, stateLook, WAIT_WORDS } from "@planwright/plan";
import { useState } from "react";
import { useTitle } from "../data/browser.ts";
import {
  Button,
  Card,
  Check,
  EmptyState,
  Field,
  ListRow,
  Panel,
  Pill,
  ProblemNote,
  showToast,
  Table,
  Tabs,
  Toast,
} from "./elements.tsx";
import type { StatusLook, Tone } from "./looks.ts";

const TONES: readonly Tone[] = ["good", "bad", "active", "attention", "quiet"];

/** Every state that a pill may say, by the table of states. */
const PILLS: readonly (readonly [string, readonly StatusLook[]])[] = [
  ["Requests", Object.values(STATE_LOOKS.request)],
  ["Plans", Object.values(STATE_LOOKS.plan)],
  ["Steps", Object.values(STATE_LOOKS.step)],
  [
    "Plans that wait",
    Object.keys(WAIT_WORDS).map((waitReason) => stateLook("plan", { status: "WAITING", waitReason })),
  ],
];

const SPACES = ["1", "2", "3", "4", "5", "6", "7"] as const;
const SIZES = ["s", "m", "l", "xl", "figure"] as const;

const ROWS = [
  {
    tool: "chargeCard",
    calls: 1_204,
    failed: 3,
    note: "Charges the card of a customer. The same key charges once.",
  },
  { tool: "sendReceipt", calls: 88, failed: 0, note: "Sends a receipt by e-mail." },
];

const TABS = [
  { name: "graph", label: "Graph" },
  { name: "timeline", label: "Timeline" },
  { name: "steps", label: "Steps", count: 12 },
  { name: "journal", label: "Journal", count: 1_480 },
  { name: "models", label: "Model calls" },
  { name: "versions", label: "Versions" },
] as const;

/** Every part in every state: to look at, and to test contrast, focus and names. */
export function PartsPage() {
  const [tab, setTab] = useState<(typeof TABS)[number]["name"]>("steps");
  const [isExecuting, setIsExecuting] = useState(true);
  useTitle("Parts");
  return (
    <main className="parts-page">
      <h1 className="page-title">Parts</h1>
      <Card title="Pills">
        <div className="part">
          {PILLS.map(([name, looks]) => (
            <p key={name} className="part-row">
              <span className="quiet-text">{name}</span>
              {looks.map((look) => (
                <Pill key={look.word} look={look} />
              ))}
            </p>
          ))}
        </div>
      </Card>
      <Card title="Buttons">
        <p className="part part-row">
          <Button kind="primary">Execute the plan</Button>
          <Button>Pause</Button>
          <Button kind="danger">Cancel the request …</Button>
          <Button kind="quiet">copy id</Button>
          <Button kind="link">show the step</Button>
          <Button disabled>Nothing to do</Button>
          <Button kind="primary" disabled>
            Sending …
          </Button>
        </p>
      </Card>
      <Card title="Table">
        <Table
          label="Tools of the example"
          rows={ROWS}
          keyOf={({ tool }) => tool}
          columns={[
            { title: "tool", cell: ({ tool }) => tool },
            { title: "calls", isNumber: true, cell: ({ calls }) => numberText(calls) },
            { title: "failed", isNumber: true, cell: ({ failed }) => failed },
            { title: "what it does", cell: ({ note }) => note },
          ]}
        />
      </Card>
      <Card title="List rows" actions={<span className="quiet-text">2 of 2</span>}>
        <ul className="list-rows">
          <ListRow
            lead={<Pill look={stateLook("plan", { status: "WAITING", waitReason: "approval" })} />}
            title={<a href="/console/">Refund order 1042 to Eve after a look at the amount</a>}
            facts={
              <>
                <span>EUR 129.00</span>
                <span>12 min ago</span>
              </>
            }
            action={<Button>Decide</Button>}
          />
          <ListRow title="A row with nothing but its text" />
        </ul>
      </Card>
      <Card title="Tabs">
        <div className="part">
          <Tabs label="Views of the example" tabs={TABS} current={tab} onSelect={setTab} />
        </div>
      </Card>
      <Card title="Panels">
        <div className="part">
          {TONES.map((tone) => (
            <Panel key={tone} tone={tone} label={`Panel ${tone}`}>
              <h3>What happened, in one sentence.</h3>
              <p>
                What to do about it, and <a href="/console/">where</a>.
              </p>
            </Panel>
          ))}
          <ProblemNote
            problem={{
              code: "STATE_CONFLICT",
              message: "The request has ended",
              remedy: "Open it to see how it ended.",
              isTemporary: false,
            }}
          />
        </div>
      </Card>
      <Card title="Form fields">
        <div className="part">
          <Field label="What the call returned" hint="As JSON. It becomes the output of the step.">
            <textarea rows={2} placeholder='{"sent":true}' />
          </Field>
          <Field label="Reason" error="A reason is needed to refuse.">
            <input defaultValue="" />
          </Field>
          <Field label="Status">
            <select>
              <option>all</option>
            </select>
          </Field>
          <Check isOn={isExecuting} onChange={setIsExecuting}>
            execute at once
          </Check>
        </div>
      </Card>
      <Card title="Toasts">
        <div className="part">
          {TONES.map((tone) => (
            <Toast key={tone} tone={tone} text="3 requests run again." />
          ))}
          <p>
            <Button onClick={() => showToast("3 requests run again.")}>Show a toast</Button>
          </p>
        </div>
      </Card>
      <Card title="Empty state">
        <EmptyState title="There is no request yet" actions={<Button kind="primary">Try a sentence</Button>}>
          <p>A request is one sentence. It becomes a plan that you can look at before it is executed.</p>
        </EmptyState>
      </Card>
      <Card title="Tokens">
        <div className="part">
          <p className="part-row">
            {["ground", "panel", "sunken", "line", "line-strong", "accent", "accent-ground"].map((name) => (
              <span key={name} className="part-row">
                <span className="part-colour" style={{ background: `var(--${name})` }} /> {name}
              </span>
            ))}
          </p>
          <p className="part-row">
            {SPACES.map((name) => (
              <span key={name} className="part-row">
                <span className="part-space" style={{ width: `var(--space-${name})` }} /> {name}
              </span>
            ))}
          </p>
          {SIZES.map((name) => (
            <p key={name} style={{ fontSize: `var(--text-${name})` }}>
              text-{name}: one sentence in, one stored plan out
            </p>
          ))}
        </div>
      </Card>
    </main>
  );
}
