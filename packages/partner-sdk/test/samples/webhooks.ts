import {
  type CaughtUp,
  createPostgresWebhookStore,
  createWebhookReceiver,
  expressWebhook,
  keepCaughtUp,
} from '@svc/partner-sdk/server';
import express from 'express';
import type { Knex } from 'knex';

interface Settings {
  readonly baseUrl: string;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly signingSecret: string;
}

/** Stop `caughtUp` before you close the database. */
interface Started {
  readonly app: express.Express;
  readonly caughtUp: CaughtUp;
}

export const startApp = (knex: Knex, settings: Settings): Started => {
  const receiver = createWebhookReceiver({
    secret: settings.signingSecret,
    clientId: settings.clientId,
    store: createPostgresWebhookStore(knex),
    events: { baseUrl: settings.baseUrl, clientSecret: settings.clientSecret },
    handle: async (event, trx) => {
      const { svc_user_id } = event.user;
      switch (event.event) {
        case 'subscription.updated':
        case 'subscription.ended': {
          const row = { svc_user_id, status: event.data.status };
          await trx('svc_subscriptions').insert(row).onConflict('svc_user_id').merge();
          break;
        }
        case 'integration.revoked':
          await trx('svc_subscriptions').where({ svc_user_id }).delete();
          break;
        case 'integration.connected':
        case 'integration.test':
          break;
      }
    },
    onGap: ({ from, to }) => process.emitWarning(`The service no longer has the events ${from} to ${to}.`),
  });
  const caughtUp = keepCaughtUp(receiver, { onError: (error) => process.emitWarning(String(error)) });
  const app = express().post('/webhooks', expressWebhook(receiver)).use(express.json());
  return { app, caughtUp };
};
