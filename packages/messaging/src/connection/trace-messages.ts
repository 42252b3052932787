import { activeTracing, errorCodeOf, type SpanAttributes, type TraceSpan } from '@svc/tracing';
import { headers, type MsgHdrs } from 'nats';

/** Carries the trace beside the message, whose body is the contract's. */
const TRACE_HEADER = 'traceparent';
/** The subject of a revocation ends with what it revokes. */
const BUCKET = /^(\$KV\.[^.]+)\..*/;

/** What is told of a message. */
interface TracedMessage {
  readonly id: string;
  readonly subject: string;
}

/** A message that was delivered, with the trace in which it was sent, where it was in one. */
export interface ReceivedMessage extends TracedMessage {
  readonly traceparent: string | undefined;
}

/** Begins the step in which a fact is sent, within the trace that caused it. */
export const beginPublishing = (message: TracedMessage, parent: string): TraceSpan | undefined => {
  const subject = subjectFamily(message);
  const attributes = attributesOf(message, 'send');
  return activeTracing()?.begin({ name: `send ${subject}`, kind: 'producer', parent, attributes });
};

/** Options of a publication that carry its trace. */
export const traceHeaders = (traceparent: string | null): { readonly headers?: MsgHdrs } => {
  if (traceparent === null) return {};
  const made = headers();
  made.set(TRACE_HEADER, traceparent);
  return { headers: made };
};

/** The trace in which a message was sent. */
export const traceparentOf = (message: { readonly headers?: MsgHdrs | undefined }): string | undefined => {
  return message.headers?.get(TRACE_HEADER) || undefined;
};

/**
 * Runs the handling of messages as a step of each of their traces. What is done for all of them together is told within the
 * first. Messages without a trace have none.
 */
export const traceHandling = async <T>(
  consumer: string,
  messages: readonly ReceivedMessage[],
  work: () => Promise<T>,
): Promise<T> => {
  const tracing = activeTracing();
  if (tracing === undefined) return await work();
  const spans = messages.flatMap((message) => {
    if (message.traceparent === undefined) return [];
    return tracing.begin({
      name: `process ${subjectFamily(message)}`,
      kind: 'consumer',
      parent: message.traceparent,
      attributes: {
        ...attributesOf(message, 'process'),
        'messaging.consumer.group.name': consumer,
        'messaging.batch.message_count': messages.length,
      },
    });
  });
  try {
    const result = await tracing.within(spans[0], work);
    for (const span of spans) span.end();
    return result;
  } catch (error) {
    for (const span of spans) span.end(errorCodeOf(error));
    throw error;
  }
};

const attributesOf = (message: TracedMessage, operation: 'send' | 'process'): SpanAttributes => {
  return {
    'messaging.system': 'nats',
    'messaging.operation.type': operation,
    'messaging.destination.name': subjectFamily(message),
    'messaging.message.id': message.id,
  };
};

const subjectFamily = ({ subject }: TracedMessage): string => {
  return subject.replace(BUCKET, '$1');
};
