import { eventEnvelopeSchema } from '@svc/contracts';
import type { JsMsg } from 'nats';
import { findEvent, type ReceivedEvent } from '../connection/event-types.ts';
import { traceparentOf } from '../connection/trace-messages.ts';

/** How often and from where a message came. */
export interface DeliveryMeta {
  readonly deliveries: number;
  readonly stream: string;
  readonly streamSequence: number;
}

/** A fact of the contract, and how it came. */
export interface Delivery {
  readonly event: ReceivedEvent;
  readonly meta: DeliveryMeta;
  /** The trace in which it was sent. */
  readonly traceparent: string | undefined;
}

/** Reads a message as the contract says; unknown fields are dropped. Undefined when it is not such a fact. */
export const parseMessage = (message: JsMsg): ReceivedEvent | undefined => {
  return parseFact(message.subject, message.string());
};

/** Reads a message's text, as `parseMessage` does. */
export const parseFact = (subject: string, text: string): ReceivedEvent | undefined => {
  const definition = findEvent(subject);
  if (definition === undefined) return undefined;
  const envelope = eventEnvelopeSchema.safeParse(parseJson(text));
  if (!envelope.success || envelope.data.subject !== subject) return undefined;
  const data = definition.schema.safeParse(envelope.data.data);
  if (!data.success) return undefined;
  // The definition was found by this very subject, so `data` has the type that belongs to it.
  return { ...envelope.data, data: data.data } as ReceivedEvent;
};

/** A fact with what is known of its message. */
export const toDelivery = (event: ReceivedEvent, message: JsMsg): Delivery => {
  return { event, meta: metaOf(message), traceparent: traceparentOf(message) };
};

const metaOf = ({ info, seq }: JsMsg): DeliveryMeta => {
  return { deliveries: info.deliveryCount, stream: info.stream, streamSequence: seq };
};

const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};
