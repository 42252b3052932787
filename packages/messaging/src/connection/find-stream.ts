import type { JetStreamManager } from 'nats';
import { isNotFound } from '../broker/index.ts';

/** Returns the stream's state, or undefined if there is no such stream. */
export const findStream = async (jsm: JetStreamManager, name: string) => {
  try {
    return await jsm.streams.info(name);
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
};
