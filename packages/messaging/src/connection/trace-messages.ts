import { type Attributes, type Span, SpanKind } from '@opentelemetry/api';
import { contextOf, endSpan, errorCodeOf, tracer, withinSpan } from '@svc/service-kit';
import { headers, type MsgHdrs } from 'nats';

/** A header, because the contract fixes the body of a message. */
const TRACE_HEADER = 'traceparent';
/** The subject of a revocation ends with its key, which spans leave out. */
const BUCKET = /^(\$KV\.[^.]+)\..*/;

interface TracedMessage {
  readonly id: string;
  readonly subject: string;
}

/** A delivered message with the trace of its publication, if it has one. */
export interface ReceivedMessage extends TracedMessage {
  readonly traceparent: string | undefined;
}

/** Begins the span of a publication, in the trace that caused the fact. */
export const beginPublishing = (message: TracedMessage, traceparent: string): Span => {
  const subject = subjectFamily(message);
  const attributes = attributesOf(message, 'send');
  return tracer().startSpan(`send ${subject}`, { kind: SpanKind.PRODUCER, attributes }, contextOf(traceparent));
};

/** Returns the publication options that carry a trace. */
export const traceHeaders = (traceparent: string | null | undefined): { readonly headers?: MsgHdrs } => {
  if (traceparent === null || traceparent === undefined) return {};
  const made = headers();
  made.set(TRACE_HEADER, traceparent);
  return { headers: made };
};

/** Returns the trace of a message's publication. */
export const traceparentIn = (message: { readonly headers?: MsgHdrs | undefined }): string | undefined =>
  message.headers?.get(TRACE_HEADER) || undefined;

/**
 * Runs the handling of messages as a span of each of their traces. The first trace contains the work for all of them.
 * Messages without a trace get no span.
 */
export const traceHandling = async <T>(
  consumer: string,
  messages: readonly ReceivedMessage[],
  work: () => Promise<T>,
): Promise<T> => {
  const spans = messages.flatMap((message) => {
    if (message.traceparent === undefined) return [];
    const attributes = {
      ...attributesOf(message, 'process'),
      'messaging.consumer.group.name': consumer,
      'messaging.batch.message_count': messages.length,
    };
    const name = `process ${subjectFamily(message)}`;
    return tracer().startSpan(name, { kind: SpanKind.CONSUMER, attributes }, contextOf(message.traceparent));
  });
  try {
    const result = await withinSpan(spans[0], work);
    for (const span of spans) span.end();
    return result;
  } catch (error) {
    for (const span of spans) endSpan(span, errorCodeOf(error));
    throw error;
  }
};

const attributesOf = (message: TracedMessage, operation: 'send' | 'process'): Attributes => ({
  'messaging.system': 'nats',
  'messaging.operation.type': operation,
  'messaging.destination.name': subjectFamily(message),
  'messaging.message.id': message.id,
});

const subjectFamily = ({ subject }: TracedMessage): string => subject.replace(BUCKET, '$1');
