import {
  type Context,
  defaultTextMapGetter,
  defaultTextMapSetter,
  ROOT_CONTEXT,
  type Span,
  type SpanContext,
  SpanKind,
  trace,
} from "@opentelemetry/api";
import { setGlobalErrorHandler, W3CTraceContextPropagator } from "@opentelemetry/core";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-http";
import {
  defaultResource,
  detectResources,
  envDetector,
  resourceFromAttributes,
} from "@opentelemetry/resources";
import { BasicTracerProvider, BatchSpanProcessor } from "@opentelemetry/sdk-trace-base";
import {
  REQUEST_ID_ATTRIBUTE,
  type StartTracingOptions,
  type TraceOrigin,
  type Traces,
  type Tracing,
} from "./traces.ts";
import { VERSION } from "./version.ts";

/**
 * Shortest time between two warnings, in milliseconds: an unreachable receiver fails every few seconds with
 * the same message.
 */
const WARN_AGAIN_AFTER_MS = 60_000;
const STOP_WITHIN_MS = 2_000;

/**
 * The only module that loads the SDK; it is imported only when traces are configured. It registers nothing
 * globally except an error handler.
 */
export function exportTraces({ service, instance, logger }: StartTracingOptions): Tracing {
  setGlobalErrorHandler(warnRarely(logger));
  const provider = new BasicTracerProvider({
    resource: defaultResource()
      .merge(
        resourceFromAttributes({
          "service.name": service,
          "service.version": VERSION,
          "service.instance.id": instance,
        }),
      )
      .merge(detectResources({ detectors: [envDetector] })),
    spanProcessors: [new BatchSpanProcessor(new OTLPTraceExporter())],
  });
  const tracer = provider.getTracer("planwright");
  const propagator = new W3CTraceContextPropagator();

  const contextOf = (at: Span | TraceOrigin | undefined): Context => {
    if (at === undefined) return ROOT_CONTEXT;
    if ("spanContext" in at) return trace.setSpan(ROOT_CONTEXT, at);
    return propagator.extract(ROOT_CONTEXT, at, defaultTextMapGetter);
  };
  const spanContextOf = (at: Span | TraceOrigin | undefined): SpanContext | undefined =>
    trace.getSpanContext(contextOf(at));

  const traces: Traces = {
    start({ name, kind = SpanKind.INTERNAL, parent, requestId, attributes = {} }) {
      const allAttributes =
        requestId === undefined ? attributes : { [REQUEST_ID_ATTRIBUTE]: requestId, ...attributes };
      return tracer.startSpan(name, { kind, attributes: allAttributes }, contextOf(parent));
    },
    originOf(span) {
      const carrier: Partial<TraceOrigin> = {};
      propagator.inject(contextOf(span), carrier, defaultTextMapSetter);
      const { traceparent, tracestate } = carrier;
      return traceparent === undefined ? undefined : { traceparent, ...(tracestate ? { tracestate } : {}) };
    },
    link(span, to) {
      const context = spanContextOf(to);
      if (context && context.traceId !== span.spanContext().traceId) span.addLink({ context });
    },
    logFacts(of) {
      const spanContext = spanContextOf(of);
      return spanContext ? { trace_id: spanContext.traceId } : {};
    },
  };

  let stopped: Promise<void> | undefined;
  return {
    traces,
    stop(timeoutMs = STOP_WITHIN_MS) {
      stopped ??= endWithin(provider.shutdown(), timeoutMs);
      return stopped;
    },
  };
}

async function endWithin(ending: Promise<void>, timeoutMs: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, timeoutMs);
  });
  // Spans that could not be sent have been reported already.
  await Promise.race([ending.catch(() => undefined), timeout]);
  clearTimeout(timer);
}

function warnRarely(logger: StartTracingOptions["logger"]): (error: unknown) => void {
  let warnedAt = Number.NEGATIVE_INFINITY;
  return (error) => {
    const now = performance.now();
    if (now - warnedAt < WARN_AGAIN_AFTER_MS) return;
    warnedAt = now;
    logger.warn({ err: error }, "spans could not be sent; the work continues without them");
  };
}
