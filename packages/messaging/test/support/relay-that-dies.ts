import { connectMessaging, startRelay } from '../../src/index.ts';

/** Relays until the n-th acknowledgement and kills the process before it marks the row. */
const [databaseUrl = '', natsUrl = '', count = '1'] = process.argv.slice(2);
const silent = () => undefined;
const logger = { debug: silent, info: silent, warn: silent, error: silent };
const messaging = await connectMessaging({ url: natsUrl, name: 'relay-that-dies', logger });
let acknowledged = 0;
const jetstream = new Proxy(messaging.jetstream, {
  get(target, property) {
    const value: unknown = Reflect.get(target, property);
    if (property !== 'publish' || typeof value !== 'function') return value;
    return async (...args: unknown[]) => {
      const ack: unknown = await Reflect.apply(value, target, args);
      acknowledged += 1;
      if (acknowledged === Number(count)) process.kill(process.pid, 'SIGKILL');
      return ack;
    };
  },
});
startRelay({ databaseUrl, messaging: { ...messaging, jetstream }, service: 'auth' });
