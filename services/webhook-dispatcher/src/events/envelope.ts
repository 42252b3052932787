import { WEBHOOK_API_VERSION, type WebhookEvent, webhookEventSchema } from '@svc/contracts';
import type { EventDraft } from './event.ts';

/** The place and time that an event gets when it is stored. */
export interface EventPlace {
  readonly eventId: string;
  readonly sequence: number;
  readonly createdSeconds: number;
}

/**
 * The exact bytes of an event's body: made once, stored, and sent and signed as they are at every attempt. Throws when the
 * envelope is not what the contract promises to receivers.
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
