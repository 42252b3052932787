import { createHmac } from 'node:crypto';
import type { Delivery, WebhookEvent } from '../../src/server.ts';

export const SECRET = 'whsec_c2VjcmV0LW9mLXRoZS10ZXN0';
export const CLIENT_ID = 'app_01jd5m8q2v3w4x5y6z7a8b9c0e';
export const USER_ID = 'usr_01jd5m8q2v3w4x5y6z7a8b9c0d';

/** Signs a body as the service does, with the current time by default. */
const signBody = (body: Uint8Array, seconds = Math.floor(Date.now() / 1000)): string =>
  `t=${seconds},v1=${createHmac('sha256', SECRET).update(`${seconds}.`).update(body).digest('hex')}`;

export const deliveryOf = (event: object): Delivery => {
  const rawBody = Buffer.from(JSON.stringify(event));
  return { rawBody, headers: signBody(rawBody) };
};

const envelope = (sequence: number, userId: string) => ({
  api_version: '2026-10-01',
  event_id: `evt_${sequence}`,
  integration_id: CLIENT_ID,
  sequence,
  created: Math.floor(Date.now() / 1000),
  user: { svc_user_id: userId },
});

export const testEvent = (sequence: number): WebhookEvent => ({
  ...envelope(sequence, USER_ID),
  event: 'integration.test',
  data: { message: `number ${sequence}` },
});

/** A subscription snapshot. */
export const snapshot = (sequence: number, revision: number, userId = USER_ID): WebhookEvent => ({
  ...envelope(sequence, userId),
  event: 'subscription.updated',
  data: {
    status: 'active',
    plan: { id: 'plus', name: 'Plus' },
    period: { start: '2026-10-01T00:00:00.000Z', end: '2026-11-01T00:00:00.000Z' },
    cancel_at_period_end: false,
    budget: {
      weekly_used_percent: 1,
      monthly_used_percent: 1,
      services: { chat: true, audio_transcription: true },
    },
    revision,
  },
});

/** The end of a subscription. */
export const ended = (sequence: number, revision: number): WebhookEvent => ({
  ...envelope(sequence, USER_ID),
  event: 'subscription.ended',
  data: { status: 'canceled', ended_at: '2026-10-01T00:00:00.000Z', revision },
});
