import {
  autocompletion,
  type CompletionContext,
  type CompletionResult,
  closeBrackets,
  closeBracketsKeymap,
  completionKeymap,
} from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { json, jsonParseLinter } from "@codemirror/lang-json";
import {
  bracketMatching,
  ensureSyntaxTree,
  HighlightStyle,
  indentOnInput,
  syntaxHighlighting,
  syntaxTree,
} from "@codemirror/language";
import { lintKeymap, type Diagnostic as Mark, setDiagnostics } from "@codemirror/lint";
import { EditorState } from "@codemirror/state";
import { EditorView, highlightActiveLine, keymap, lineNumbers } from "@codemirror/view";
import type { Tree } from "@lezer/common";
import { tags } from "@lezer/highlight";
import { useEffect, useRef } from "react";
import type { ShownDiagnostic } from "../parts/diagnostics.tsx";
import {
  completionsAt,
  correctionOf,
  documentOf,
  type KnownTool,
  pathOf,
  rangeOf,
  rangeOfStep,
  stepAt,
} from "./places.ts";
import planSchema from "./plan.schema.json";

/** The text of the editor, and what could be read from it. */
export interface EditedPlan {
  text: string;
  /** The document, as far as the text can be read. */
  document: unknown;
  /** Why the text is not JSON; null if it is JSON. */
  fault: string | null;
  /** Those of these diagnostics whose suggestion can be written by a click. */
  appliable: (diagnostics: readonly ShownDiagnostic[]) => ReadonlySet<ShownDiagnostic>;
}

/** The target of a jump of the cursor, or a suggestion to write. Each object is one jump. */
export type EditorTarget = { stepId: string } | { diagnostic: ShownDiagnostic } | { apply: ShownDiagnostic };

/** The props of {@link PlanEditor}. */
export interface PlanEditorProps {
  /** The initial text. Another one replaces the text, and the edits are lost. */
  initialText: string;
  tools: readonly KnownTool[];
  /** The diagnostics of the current text; empty while it is being checked. */
  diagnostics: readonly ShownDiagnostic[];
  target: EditorTarget | null;
  onEdit: (edited: EditedPlan) => void;
  /** The step that the cursor is in. */
  onStep: (stepId: string | null) => void;
}

/**
 * A JSON editor for plans. It is in a shadow tree with adopted style sheets, so the Content-Security-Policy
 * needs no exception for styles. The Tab key leaves it like any other field.
 */
export function PlanEditor(props: PlanEditorProps) {
  const { initialText, diagnostics, target } = props;
  const frame = useRef<HTMLDivElement>(null);
  const editor = useRef<EditorView | null>(null);
  const newest = useRef(props);
  newest.current = props;

  useEffect(() => {
    if (!frame.current) return;
    const root = frame.current.shadowRoot ?? frame.current.attachShadow({ mode: "open" });
    const view = new EditorView({ parent: root, root, state: stateOf(initialText, () => newest.current) });
    editor.current = view;
    newest.current.onEdit(editedOf(view));
    return () => view.destroy();
  }, [initialText]);

  useEffect(() => {
    const view = editor.current;
    if (!view) return;
    const marks = [...syntaxMarks(view), ...diagnosticMarks(view.state, diagnostics)];
    view.dispatch(setDiagnostics(view.state, marks));
  }, [diagnostics]);

  useEffect(() => {
    const view = editor.current;
    if (!view || !target) return;
    if ("apply" in target) {
      const change = correctionOf(treeOf(view.state), view.state.doc.toString(), target.apply);
      if (change) view.dispatch({ changes: change, selection: { anchor: change.from } });
      view.focus();
      return;
    }
    const range =
      "diagnostic" in target
        ? rangeOfDiagnostic(view.state, target.diagnostic)
        : rangeOfStep(treeOf(view.state), view.state.doc.toString(), target.stepId);
    if (!range) return;
    view.dispatch({
      selection: { anchor: range.from },
      effects: EditorView.scrollIntoView(range.from, { y: "center" }),
    });
    view.focus();
  }, [target]);

  return <div className="plan-editor" ref={frame} />;
}

function stateOf(doc: string, newest: () => PlanEditorProps): EditorState {
  return EditorState.create({
    doc,
    extensions: [
      lineNumbers(),
      history(),
      bracketMatching(),
      closeBrackets(),
      indentOnInput(),
      highlightActiveLine(),
      EditorView.lineWrapping,
      autocompletion({ override: [completionSource(() => newest().tools)], icons: false }),
      keymap.of([
        ...closeBracketsKeymap,
        ...completionKeymap,
        ...lintKeymap,
        ...historyKeymap,
        ...defaultKeymap,
      ]),
      // A text that can be edited has the focus anyway; only with a tabindex do checkers know that the box scrolls by keys.
      EditorView.contentAttributes.of({ "aria-label": "Plan as JSON", tabindex: "0" }),
      EditorView.updateListener.of(({ view, docChanged, selectionSet }) => {
        if (docChanged) newest().onEdit(editedOf(view));
        if (docChanged || selectionSet) newest().onStep(stepOf(view));
      }),
      PLAN_LANGUAGE,
    ],
  });
}

/**
 * The tree of the whole text. The editor alone parses for 20 ms after a change and goes on later, so a long
 * text, or a busy machine, would leave a plan without its last steps.
 */
function treeOf(state: EditorState): Tree {
  return ensureSyntaxTree(state, state.doc.length, Number.POSITIVE_INFINITY) ?? syntaxTree(state);
}

function editedOf(view: EditorView): EditedPlan {
  const text = view.state.doc.toString();
  return {
    text,
    document: documentOf(treeOf(view.state), text),
    fault: syntaxMarks(view)[0]?.message ?? null,
    appliable: (diagnostics) => {
      const tree = treeOf(view.state);
      return new Set(diagnostics.filter((diagnostic) => correctionOf(tree, text, diagnostic) !== null));
    },
  };
}

function stepOf({ state }: EditorView): string | null {
  return stepAt(treeOf(state), state.doc.toString(), state.selection.main.head);
}

/** The colours come from the page: custom properties also apply in the shadow tree. */
const THEME = EditorView.theme({
  "&": { height: "100%", color: "var(--text)", backgroundColor: "var(--panel)", fontSize: "13px" },
  "&.cm-focused": { outline: "none" },
  ".cm-scroller": { fontFamily: "var(--mono)", lineHeight: "1.55" },
  ".cm-content": { caretColor: "var(--text)", paddingBlock: "8px" },
  ".cm-cursor": { borderLeftColor: "var(--text)" },
  ".cm-gutters": { backgroundColor: "var(--sunken)", color: "var(--text-quiet)", border: "none" },
  ".cm-activeLine": { backgroundColor: "transparent" },
  ".cm-activeLineGutter": { backgroundColor: "transparent", color: "var(--text)" },
  "&.cm-focused .cm-activeLine": { backgroundColor: "color-mix(in srgb, var(--accent) 7%, transparent)" },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground": {
    backgroundColor: "color-mix(in srgb, var(--accent) 28%, transparent)",
  },
  ".cm-matchingBracket, &.cm-focused .cm-matchingBracket": { backgroundColor: "var(--accent-ground)" },
  ".cm-tooltip": {
    backgroundColor: "var(--panel)",
    color: "var(--text)",
    border: "1px solid var(--line-strong)",
    borderRadius: "6px",
    overflow: "hidden",
  },
  ".cm-tooltip.cm-tooltip-autocomplete > ul": { fontFamily: "var(--mono)", maxHeight: "16em" },
  ".cm-tooltip-autocomplete ul li[aria-selected]": {
    backgroundColor: "var(--accent)",
    color: "var(--on-accent)",
  },
  ".cm-completionDetail": { color: "var(--text-quiet)", fontStyle: "normal" },
  "li[aria-selected] .cm-completionDetail": { color: "inherit" },
  ".cm-completionInfo": { padding: "6px 8px", maxWidth: "320px", fontFamily: "var(--font)" },
  ".cm-diagnostic": { padding: "6px 10px", fontFamily: "var(--font)", whiteSpace: "pre-wrap" },
  ".cm-diagnostic-error": { borderLeft: "4px solid var(--bad)" },
  ".cm-diagnostic-warning": { borderLeft: "4px solid var(--attention)" },
  ".cm-lintRange-error": { backgroundImage: "none", borderBottom: "2px dotted var(--bad)" },
  ".cm-lintRange-warning": { backgroundImage: "none", borderBottom: "2px dotted var(--attention)" },
  ".cm-lintPoint:after": { borderBottomColor: "var(--bad)" },
});

const COLOURS = HighlightStyle.define([
  { tag: tags.propertyName, color: "var(--accent)" },
  { tag: tags.string, color: "var(--good)" },
  { tag: [tags.number, tags.bool, tags.null], color: "var(--attention)" },
]);

/** The JSON language with the colours of the page. */
const PLAN_LANGUAGE = [json(), syntaxHighlighting(COLOURS), THEME];

/** Completions at the cursor, from the schemas of the plan and the tools. */
function completionSource(tools: () => readonly KnownTool[]) {
  return ({ state, pos, explicit }: CompletionContext): CompletionResult | null => {
    const text = state.doc.toString();
    const document = documentOf(treeOf(state), text);
    const found = completionsAt(text, pos, { planSchema, tools: tools(), document });
    if (!found || (!explicit && found.from === pos)) return null;
    // Quotes are not part of the matched text.
    const isQuoted = text[found.from] === '"';
    const isClosed = found.to > pos && text[found.to - 1] === '"';
    return {
      from: found.from + (isQuoted ? 1 : 0),
      to: found.to - (isClosed ? 1 : 0),
      options: found.choices.map(({ label, apply, detail, info, isRequired }) => ({
        label,
        detail,
        ...(info === "" ? {} : { info }),
        boost: isRequired ? 1 : 0,
        apply: (view, _completion, from, to) => insertChoice(view, apply, { from, to }),
      })),
      validFor: /^[^\s"{}[\],:]*$/u,
    };
  };
}

/** Inserts a choice, with quotes around it; the cursor is then inside the value that it opens. */
function insertChoice(view: EditorView, apply: string, { from, to }: { from: number; to: number }): void {
  const characterAt = (start: number) => view.state.sliceDoc(start, start + 1);
  const start = from > 0 && characterAt(from - 1) === '"' ? from - 1 : from;
  const end = start < from && characterAt(to) === '"' ? to + 1 : to;
  const hasValue = /^\s*:/u.test(view.state.sliceDoc(end, end + 20));
  const insert = hasValue ? apply.replace(/: (?:""|\[\]|\{\})?$/u, "") : apply;
  const cursor = start + insert.length - (/: (?:""|\[\]|\{\})$/u.test(insert) ? 1 : 0);
  view.dispatch({ changes: { from: start, to: end, insert }, selection: { anchor: cursor } });
}

/** The syntax error of a text that is not JSON; empty if it is JSON. */
function syntaxMarks(view: EditorView): readonly Mark[] {
  return view.state.doc.toString().trim() === "" ? [] : jsonParseLinter()(view);
}

/** The range of a diagnostic: of its path, else of its step, else the first line. */
function rangeOfDiagnostic(state: EditorState, { path, stepId }: ShownDiagnostic) {
  const tree = treeOf(state);
  const text = state.doc.toString();
  if (path !== null) return rangeOf(tree, text, pathOf(path));
  const ofStep = stepId === null ? null : rangeOfStep(tree, text, stepId);
  return ofStep ?? { from: 0, to: state.doc.line(1).to };
}

/** Marks for the diagnostics of a check. */
function diagnosticMarks(state: EditorState, diagnostics: readonly ShownDiagnostic[]): readonly Mark[] {
  return diagnostics.map((diagnostic) => {
    const { from, to } = rangeOfDiagnostic(state, diagnostic);
    // Only the first line is marked: a long step would be underlined line by line.
    const end = Math.min(to, state.doc.lineAt(from).to);
    const { suggestion, message, code, severity } = diagnostic;
    return {
      from,
      to: Math.max(from, end),
      severity: severity === "error" ? "error" : "warning",
      source: code,
      message: suggestion === null ? message : `${message}\nSuggestion: ${suggestion}`,
    };
  });
}
