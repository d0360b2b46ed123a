import { Link } from "wouter";
import { READ_FLEET } from "../data/catalogue-operations.ts";
import { useRegularRead } from "../data/use-regular-read.ts";
import { verdictOf } from "./verdict.ts";

/** Often enough for a page that is looked at, rarely enough for one that stays open. */
const READ_EVERY_MS = 10_000;

/** What keeps requests from moving, in one line; nothing while all is well. */
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
