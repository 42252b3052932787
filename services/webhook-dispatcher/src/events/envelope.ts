import { WEBHOOK_API_VERSION, type WebhookEvent, webhookEventSchema } from '@svc/contracts';
import type { EventDraft } from './event.ts';

/** The place and time of an event, assigned when it is stored. */
export interface EventPlace {
  readonly eventId: string;
  readonly sequence: number;
  readonly createdSeconds: number;
}

/**
 * Encodes an event's body. The bytes are stored, and every attempt signs and sends them unchanged. Throws if the envelope
 * breaks the contract.
 */
export const encodeEnvelope = (draft: EventDraft, place: EventPlace): Buffer => {
  const envelope = webhookEventSchema.parse({
    api_version: WEBHOOK_API_VERSION,
    event_id: place.eventId,
    event: draft.event,
    integration_id: draft.clientId,
    sequence: place.sequence,
    created: place.createdSeconds,
    user: { svc_user_id: draft.userId },
    data: draft.data,
  } satisfies { [K in keyof WebhookEvent]: unknown });
  return Buffer.from(JSON.stringify(envelope), 'utf8');
};
