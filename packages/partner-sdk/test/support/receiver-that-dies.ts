import knex from 'knex';
import { createPostgresWebhookStore, createWebhookReceiver } from '../../src/server.ts';
import { CLIENT_ID, deliveryOf, SECRET, testEvent } from './deliveries.ts';

// Never commits after the handler's work: the test kills the process there.
const connection = { connectionString: process.env['RECEIVER_DATABASE_URL'] ?? '', application_name: 'dies' };
const database = knex({ client: 'pg', connection, pool: { min: 0, max: 1 } });
const receiver = createWebhookReceiver({
  secret: SECRET,
  clientId: CLIENT_ID,
  store: createPostgresWebhookStore(database),
  handle: async (event, trx) => {
    await trx('work').insert({ event_id: event.event_id, is_late: false });
    process.send?.('working');
    await new Promise((resolve) => setTimeout(resolve, 60_000));
  },
});
await receiver.receive(deliveryOf(testEvent(1)));
