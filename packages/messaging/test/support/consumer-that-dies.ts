import { createDatabase } from '@svc/database';
import { connectMessaging, startConsumer } from '../../src/index.ts';
import { recordEffect } from './effects.ts';

/** Handles one fact and kills the process between the commit and the acknowledgement. */
const [databaseUrl = '', natsUrl = '', name = ''] = process.argv.slice(2);
const silent = () => undefined;
const logger = { debug: silent, info: silent, warn: silent, error: silent };
const messaging = await connectMessaging({ url: natsUrl, name: 'consumer-that-dies', logger });
const database = new Proxy(createDatabase(databaseUrl), {
  get(target, property) {
    const value: unknown = Reflect.get(target, property);
    if (property !== 'transaction' || typeof value !== 'function') return value;
    return async (...args: unknown[]) => {
      await Reflect.apply(value, target, args);
      process.kill(process.pid, 'SIGKILL');
    };
  },
});
startConsumer({
  messaging,
  database,
  name,
  subjects: ['auth.app.registered.v1', 'auth.app.updated.v1'],
  handle: (trx, event) => recordEffect(trx, event),
});
