import { setTimeout as sleep } from 'node:timers/promises';
import { newId } from '@svc/contracts';
import { overHttp } from '../billing-under-test.ts';
import { openBareClient } from '../harness/http.ts';

const RATE = Number(process.env['FLOOD_RATE']);
const TICK_MS = 5;
const client = openBareClient(process.env['FLOOD_URL'] ?? '', process.env['FLOOD_TOKEN'] ?? '');
const side = overHttp({ client });

/** Admits and settles at a fixed rate without waiting for responses, and returns the number of decisions. */
const flood = async ({ accounts, seconds }: { accounts: readonly string[]; seconds: number }): Promise<number> => {
  const startedAt = performance.now();
  const calls: Promise<void>[] = [];
  let decided = 0;
  const one = async (userId: string): Promise<void> => {
    const requestId = newId('req');
    const verdict = await side.admit(userId, requestId);
    decided += 1;
    if (verdict === 'admitted') await side.settle(requestId);
  };
  for (let elapsed = 0; elapsed < seconds * 1000; elapsed = performance.now() - startedAt) {
    while (calls.length < (elapsed / 1000) * RATE) calls.push(one(accounts[calls.length % accounts.length] ?? ''));
    await sleep(TICK_MS);
  }
  await Promise.all(calls);
  return decided;
};

process.on('message', (order: { accounts: readonly string[]; seconds: number }) => {
  void flood(order).then((decided) => process.send?.(decided));
});
process.on('disconnect', () => process.exit());
