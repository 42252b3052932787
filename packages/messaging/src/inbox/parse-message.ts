import { eventEnvelopeSchema } from '@svc/contracts';
import type { JsMsg } from 'nats';
import { findEvent, type ReceivedEvent } from '../connection/event-types.ts';

/** A delivered message that is a fact of the contract. */
export interface Delivery {
  readonly message: JsMsg;
  readonly event: ReceivedEvent;
}

/** Reads a message as the contract says; unknown fields are dropped. Undefined when it is not such a fact. */
export function parseMessage(message: JsMsg): ReceivedEvent | undefined {
  const definition = findEvent(message.subject);
  if (definition === undefined) return undefined;
  const envelope = eventEnvelopeSchema.safeParse(parseJson(message));
  if (!envelope.success || envelope.data.subject !== message.subject) return undefined;
  const data = definition.schema.safeParse(envelope.data.data);
  if (!data.success) return undefined;
  // The definition was found by this very subject, so `data` has the type that belongs to it.
  return { ...envelope.data, data: data.data } as ReceivedEvent;
}

function parseJson(message: JsMsg): unknown {
  try {
    return message.json();
  } catch {
    return undefined;
  }
}
