import { Link } from "wouter";
import { READ_FLEET } from "../data/catalogue-operations.ts";
import { useRegularRead } from "../data/use-regular-read.ts";
import { verdictOf } from "./verdict.ts";

/** Short enough for a page in use, long enough for one that stays open. */
const READ_EVERY_MS = 10_000;

/** The problem of the fleet that blocks requests, in one line; empty without a problem. */
export function FleetLine() {
  const { data } = useRegularRead(READ_FLEET, {}, READ_EVERY_MS);
  const verdict = data && verdictOf(data.fleet);
  if (!verdict || verdict.tone === "good") return null;
  return (
    <p className={`note tone-${verdict.tone}`} role="status">
      <strong>{verdict.message}</strong> <Link href="/fleet">Fleet</Link>
    </p>
  );
}
