import { once } from "node:events";
import { createServer } from "node:http";
import { json } from "node:stream/consumers";

/** A received span, with its attributes as plain values. */
export interface ReceivedSpan {
  traceId: string;
  spanId: string;
  /** Empty for the first span of a trace. */
  parentSpanId: string;
  name: string;
  /** 1 internal, 2 server, 3 client, 4 producer, 5 consumer. */
  kind: number;
  /** Name of the service that sent it. */
  service: string;
  /** Names the process that sent it. */
  instance: string;
  /** Version of the service that sent it. */
  version: string;
  attributes: Record<string, unknown>;
  /** Code 2 is an error. */
  status: { code: number; message?: string };
  links: { traceId: string; spanId: string }[];
}

/** A receiver of spans. */
export interface SpanReceiver {
  /** Value for `OTEL_EXPORTER_OTLP_ENDPOINT`. */
  url: string;
  /** All received spans, in order. */
  spans(): ReceivedSpan[];
  /** The raw text, to search for data that must not be in it. */
  text(): string;
  close(): Promise<void>;
}

interface AnyValue {
  stringValue?: string;
  boolValue?: boolean;
  intValue?: number | string;
  doubleValue?: number;
  arrayValue?: { values: AnyValue[] };
}
type KeyValues = { key: string; value: AnyValue }[];
type OtlpSpan = Omit<
  ReceivedSpan,
  "service" | "instance" | "version" | "attributes" | "links" | "parentSpanId"
> & {
  parentSpanId?: string;
  attributes: KeyValues;
  links?: ReceivedSpan["links"];
};
interface OtlpRequest {
  resourceSpans: { resource: { attributes: KeyValues }; scopeSpans: { spans: OtlpSpan[] }[] }[];
}

/** Starts a receiver of OTLP over HTTP, in JSON, on a free port. */
export async function startSpanReceiver(): Promise<SpanReceiver> {
  const requests: OtlpRequest[] = [];
  const server = createServer((request, response) => {
    if (request.method !== "POST" || request.url !== "/v1/traces") {
      response.writeHead(404).end();
      return;
    }
    json(request).then(
      (body) => {
        requests.push(body as OtlpRequest);
        response.writeHead(200, { "content-type": "application/json" }).end("{}");
      },
      () => response.writeHead(400).end(),
    );
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  return {
    url: `http://127.0.0.1:${port}`,
    spans: () => requests.flatMap(spansOf),
    text: () => JSON.stringify(requests),
    close: async () => {
      const closed = once(server, "close");
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

function spansOf({ resourceSpans }: OtlpRequest): ReceivedSpan[] {
  return resourceSpans.flatMap(({ resource, scopeSpans }) => {
    const about = plain(resource.attributes);
    const sender = {
      service: String(about["service.name"]),
      instance: String(about["service.instance.id"]),
      version: String(about["service.version"]),
    };
    return scopeSpans.flatMap(({ spans }) =>
      spans.map(({ attributes, parentSpanId = "", links = [], ...span }) => ({
        ...span,
        ...sender,
        parentSpanId,
        links,
        attributes: plain(attributes),
      })),
    );
  });
}

function plain(attributes: KeyValues): Record<string, unknown> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, plainValue(value)]));
}

function plainValue(value: AnyValue): unknown {
  if (value.arrayValue) return value.arrayValue.values.map(plainValue);
  if (value.intValue !== undefined) return Number(value.intValue);
  return value.stringValue ?? value.boolValue ?? value.doubleValue;
}
