import { durationText } from "@planwright/plan";
import { Component, type FormEvent, lazy, type ReactNode, Suspense, useMemo, useState } from "react";
import { Link, Router, useLocation } from "wouter";
import { BundleDrop } from "../bundle/bundle-drop.tsx";
import { type BundledRequest, createBundleClient } from "../bundle/bundle-request.ts";
import { useNow } from "../data/browser.ts";
import { ClientContext, createPageClient } from "../data/use-api.ts";
import { useConnection } from "../data/use-connection.ts";
import { Button, Toasts } from "../parts/elements.tsx";
import { deskPath, deskPlaceOf, toolPath, toolPlaceOf } from "../parts/paths.ts";
import { placeOf } from "../request/paths.ts";
import { RequestPage } from "../request/request-page.tsx";
import { RequestsPage } from "../requests/requests-page.tsx";
import { Palette } from "./palette.tsx";

/** Not part of the first view: each page is loaded when it is opened. */
const DeskPage = lazy(async () => ({ default: (await import("../desk/desk-page.tsx")).DeskPage }));
const ToolsPage = lazy(async () => ({ default: (await import("../system/tools-page.tsx")).ToolsPage }));
const PartsPage = lazy(async () => ({ default: (await import("../parts/parts-page.tsx")).PartsPage }));
const FleetPage = lazy(async () => ({ default: (await import("../system/fleet-page.tsx")).FleetPage }));

/** The console: the top bar and the page of the address. */
export function App() {
  const [token, setToken] = useState<string | undefined>(undefined);
  const [bundle, setBundle] = useState<BundledRequest | null>(null);
  const [isKeyNeeded, setIsKeyNeeded] = useState(false);
  const client = useMemo(
    () => (bundle ? createBundleClient(bundle) : createPageClient(token, () => setIsKeyNeeded(true))),
    [bundle, token],
  );
  return (
    <ClientContext value={client}>
      <Router base="/console">
        <header className="top-bar">
          <Link href="/" className="brand" aria-label="Planwright">
            <img src="/console/icon.svg" alt="" width={20} height={20} />
            <span>Planwright</span>
          </Link>
          <Pages />
          {!bundle && <LiveMark />}
          <OpenBundle bundle={bundle} onBundle={setBundle} />
          <Palette onKey={() => setIsKeyNeeded(true)} />
        </header>
        {isKeyNeeded && (
          <KeyField
            isSet={token !== undefined}
            onToken={(typed) => {
              setToken(typed);
              setIsKeyNeeded(false);
            }}
          />
        )}
        <Suspense fallback={<p className="empty">Opening …</p>}>
          {bundle ? (
            <FilePage key={bundle.generatedAt}>
              <Page />
            </FilePage>
          ) : (
            <Page />
          )}
        </Suspense>
        <Toasts />
      </Router>
    </ClientContext>
  );
}

/** The page of a file; a line in its place when the file differs so much from what the service writes that it fails. */
class FilePage extends Component<{ children: ReactNode }, { hasFailed: boolean }> {
  override state = { hasFailed: false };
  static getDerivedStateFromError() {
    return { hasFailed: true };
  }
  override render() {
    if (!this.state.hasFailed) return this.props.children;
    return (
      <main className="empty">
        <h1 className="hidden">A file</h1>
        <p role="alert" className="note tone-bad">
          This file cannot be shown: it is not what the service wrote. Make it again with: planwright debug
          REQUEST --bundle
        </p>
      </main>
    );
  }
}

function Pages() {
  const [path] = useLocation();
  return (
    <nav className="pages" aria-label="Pages">
      {PAGES.map(({ href, name }) => (
        <Link key={href} href={href} aria-current={isAt(path, href) ? "page" : undefined}>
          {name}
        </Link>
      ))}
    </nav>
  );
}

/** How old, in milliseconds, an answer is when the page says so. */
const OLD_AFTER_MS = 5_000;

/** Says whether the page shows what is so now, and otherwise how old it is. */
function LiveMark() {
  const { isLive, answeredAt } = useConnection();
  const now = useNow();
  if (answeredAt === null && isLive) return null;
  const ageMs = answeredAt === null ? null : now - answeredAt;
  if (isLive && (ageMs ?? 0) < OLD_AFTER_MS)
    return (
      <span className="live-mark tone-good" title="The API answers: each change is shown as it happens.">
        live
      </span>
    );
  return (
    <span
      className="live-mark tone-attention"
      role="status"
      title="The API does not answer. It is asked again and again; the page is right again with the first answer."
    >
      not live{ageMs !== null && `: ${durationText(Math.max(1_000, Math.floor(ageMs / 1_000) * 1_000))} old`}
    </span>
  );
}

const PAGES = [
  { href: "/", name: "Requests" },
  { href: deskPath(), name: "Plan desk" },
  { href: toolPath(null), name: "Tools" },
  { href: "/fleet", name: "Fleet" },
];

/** True on a page and below it; a request is below the list of requests. */
function isAt(path: string, href: string): boolean {
  if (href === "/") return path === "/" || path === "" || path.startsWith("/r/");
  return path === href || path.startsWith(`${href}/`);
}

/** Opens a bundle file; it is shown at the address of its request. */
function OpenBundle({
  bundle,
  onBundle,
}: {
  bundle: BundledRequest | null;
  onBundle: (bundle: BundledRequest | null) => void;
}) {
  const [, navigate] = useLocation();
  return (
    <BundleDrop
      shown={bundle}
      onOpen={(opened) => {
        onBundle(opened);
        navigate(`/r/${encodeURIComponent(opened.request.requestId)}`);
      }}
      onClose={() => {
        onBundle(null);
        navigate("/");
      }}
    />
  );
}

function Page() {
  const [path] = useLocation();
  const place = placeOf(path);
  if (place) return <RequestPage key={place.requestId} {...place} />;
  const atDesk = deskPlaceOf(path);
  if (atDesk !== undefined) return <DeskPage requestId={atDesk} />;
  if (path === "/fleet") return <FleetPage />;
  if (path === "/_parts") return <PartsPage />;
  const atTool = toolPlaceOf(path);
  if (atTool !== undefined) return <ToolsPage name={atTool} />;
  if (path === "/" || path === "") return <RequestsPage />;
  return (
    <main className="empty">
      <h1 className="hidden">No page</h1>
      There is no page at this address. <Link href="/">All requests</Link>
    </main>
  );
}

/**
 * The field for an API key or token of this tab, shown when the service needs one or the user asks for it. The key
 * stays in the memory of the page: a reload forgets it.
 */
function KeyField({ isSet, onToken }: { isSet: boolean; onToken: (token: string | undefined) => void }) {
  const [key, setKey] = useState("");
  function submit(event: FormEvent): void {
    event.preventDefault();
    const typed = key.trim();
    onToken(typed === "" ? undefined : typed);
    setKey("");
  }
  return (
    <form className="key-field" aria-label="Access" onSubmit={submit}>
      <label>
        <span>API key</span>
        <input
          type="password"
          value={key}
          autoComplete="off"
          placeholder={isSet ? "another key, or empty for none" : "pw_…"}
          onChange={({ target }) => setKey(target.value)}
        />
      </label>
      <Button kind="primary" type="submit">
        Use it in this tab
      </Button>
      <span className="quiet-text">A reload forgets it.</span>
    </form>
  );
}
