import { useMemo, useState } from "react";
import { Link, Router, useLocation } from "wouter";
import { createPageClient } from "../data/client.ts";
import { ClientContext } from "../data/client-context.ts";
import { placeOf } from "../request/paths.ts";
import { RequestPage } from "../request/request-page.tsx";
import { RequestsPage } from "../requests/requests-page.tsx";
import { KeyField } from "./key-field.tsx";

/** The console: a list of requests, and one request with everything about it. */
export function App() {
  const [token, setToken] = useState<string | undefined>(undefined);
  const client = useMemo(() => createPageClient(token), [token]);
  return (
    <ClientContext value={client}>
      <Router base="/console">
        <header className="top-bar">
          <Link href="/" className="brand">
            Planwright
          </Link>
          <KeyField isSet={token !== undefined} onToken={setToken} />
        </header>
        <Page />
      </Router>
    </ClientContext>
  );
}

function Page() {
  const [path] = useLocation();
  const place = placeOf(path);
  if (place) return <RequestPage key={place.requestId} {...place} />;
  if (path === "/" || path === "") return <RequestsPage />;
  return (
    <main className="empty">
      There is no page at this address. <Link href="/">All requests</Link>
    </main>
  );
}
