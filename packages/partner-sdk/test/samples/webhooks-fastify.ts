import { fastifyWebhook, type WebhookReceiver } from '@svc/partner-sdk/server';
import fastify, { type FastifyInstance } from 'fastify';

export const createApp = (receiver: WebhookReceiver): FastifyInstance => {
  const app = fastify();
  app.register(fastifyWebhook(receiver), { path: '/webhooks' });
  return app;
};
