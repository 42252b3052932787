import { createDatabase } from '@svc/database';
import { connectMessaging, startConsumer } from '../../src/index.ts';
import { noteEffect } from './effects.ts';

/** Handles one fact, and is killed after its transaction has committed and before the broker hears of it. */
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
  ...{ messaging, database, name },
  subjects: ['auth.app.registered.v1', 'auth.app.updated.v1'],
  handle: (trx, event) => noteEffect(trx, event),
});
