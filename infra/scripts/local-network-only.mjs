// Loaded before a third-party server by `npm run proof:servers` (node --import): connections to other machines
// fail as they do without a network, so that the proof sends nothing to services that it does not know, and
// ends alike on every machine.
import { isIP, Socket } from "node:net";

const connect = Socket.prototype.connect;

Socket.prototype.connect = function connectLocally(...given) {
  const host = hostOf(given);
  if (host === undefined || isLocal(host)) return connect.apply(this, given);
  const error = new Error(`getaddrinfo ENOTFOUND ${host}`);
  process.nextTick(() => this.destroy(Object.assign(error, { code: "ENOTFOUND", syscall: "getaddrinfo" })));
  return this;
};

/** The host of a connection; undefined for a socket of the file system. Node passes its own calls as a list. */
function hostOf(given) {
  const [first, second] = Array.isArray(given[0]) ? given[0] : given;
  if (typeof first === "object" && first !== null)
    return first.path === undefined || first.path === null ? (first.host ?? "localhost") : undefined;
  if (typeof first === "string" && Number.isNaN(Number(first))) return undefined;
  return typeof second === "string" ? second : "localhost";
}

function isLocal(host) {
  return (isIP(host) === 4 && host.startsWith("127.")) || ["::1", "localhost", ""].includes(host);
}
