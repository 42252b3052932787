import { eventEnvelopeSchema } from '@svc/contracts';
import type { JsMsg } from 'nats';
import { findEvent, type ReceivedEvent } from '../connection/event-types.ts';
import { traceparentOf } from '../connection/trace-messages.ts';

export interface DeliveryMeta {
  readonly deliveries: number;
  readonly stream: string;
  readonly streamSequence: number;
}

export interface Delivery {
  readonly event: ReceivedEvent;
  readonly meta: DeliveryMeta;
  readonly traceparent: string | undefined;
}

/** Parses a message by its contract and drops unknown fields. Returns undefined if it is no fact of the contract. */
export const parseMessage = (message: JsMsg): ReceivedEvent | undefined => parseFact(message.subject, message.string());

/** Parses the text of a message, as `parseMessage` does. */
export const parseFact = (subject: string, text: string): ReceivedEvent | undefined => {
  const definition = findEvent(subject);
  if (definition === undefined) return undefined;
  const envelope = eventEnvelopeSchema.safeParse(parseJson(text));
  if (!envelope.success || envelope.data.subject !== subject) return undefined;
  const data = definition.schema.safeParse(envelope.data.data);
  if (!data.success) return undefined;
  // The schema was found by the subject, so `data` has the type of that subject.
  return { ...envelope.data, data: data.data } as ReceivedEvent;
};

export const toDelivery = (event: ReceivedEvent, message: JsMsg): Delivery => ({
  event,
  meta: metaOf(message),
  traceparent: traceparentOf(message),
});

const metaOf = ({ info, seq }: JsMsg): DeliveryMeta => ({
  deliveries: info.deliveryCount,
  stream: info.stream,
  streamSequence: seq,
});

const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};
