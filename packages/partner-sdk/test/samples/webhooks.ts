import { createPostgresWebhookStore, createWebhookReceiver, expressWebhook } from '@svc/partner-sdk/server';
import express from 'express';
import type { Knex } from 'knex';

export const createApp = (knex: Knex, settings: { signingSecret: string; clientId: string }): express.Express => {
  const receiver = createWebhookReceiver({
    secret: settings.signingSecret,
    clientId: settings.clientId,
    store: createPostgresWebhookStore(knex),
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
    onGap: ({ from, to }) => process.emitWarning(`The webhooks ${from} to ${to} never arrived.`),
  });
  return express().post('/webhooks', expressWebhook(receiver)).use(express.json());
};
