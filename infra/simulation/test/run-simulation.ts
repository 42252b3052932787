import { text } from 'node:stream/consumers';
import { startRun } from '../src/campaign.ts';

/** Runs one simulation to its end. */
export const runSimulation = async (
  directory: string,
  options: readonly string[],
): Promise<{ code: number | null; output: string }> => {
  const child = startRun(directory, options);
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', resolve);
  });
  const output = await text(child.stdout);
  return { code: await ended, output };
};
