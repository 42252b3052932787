import { realTurn } from './real-time.ts';
import type { ImmediateQueue } from './replace-globals.ts';

/**
 * Resolves when no code of the services can go on by itself: it waits for the database, the network or a timer, all of which
 * belong to the scheduler. Files are read and written synchronously (`replaceFiles`).
 */
export const quiesce = async (immediates: ImmediateQueue): Promise<void> => {
  do await realTurn();
  while (immediates.run());
};
