import type { Messaging } from './connect-messaging.ts';

/** Null when the broker is away or does not answer. */
export const askBroker = async <T>(messaging: Messaging, ask: () => Promise<T>): Promise<T | null> => {
  if (!messaging.isConnected()) return null;
  return await messaging.untilDisconnect(ask()).catch(() => null);
};
