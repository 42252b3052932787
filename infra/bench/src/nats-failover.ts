import { setTimeout as sleep } from 'node:timers/promises';
import { streams } from '@svc/contracts';
import { connectToBroker } from '@svc/messaging/broker';
import { printTable, say } from './harness/report.ts';
import type { Stack } from './harness/stack.ts';
import { startCallers, trade } from './restore/drill-load.ts';
import { startDrillWorld } from './restore/drill-world.ts';
import { judge, sumOf } from './restore/judge.ts';

const NODES = 3;
const WHOLE_WITHIN_MS = 120_000;

/** Kills one of three servers of NATS at a time under load, and compares what everyone remembers. */
export const measureNatsFailover = async (): Promise<void> => {
  const world = await startDrillWorld({ natsNodes: NODES });
  try {
    const callers = startCallers(world);
    const buyersOfTurn = Math.floor(world.buyers.length / NODES);
    const rows: (string | number)[][] = [];
    for (const [turn, server] of world.stack.natsServers.entries()) {
      const before = callers.failures();
      await server.kill();
      await trade(world, world.buyers.slice(turn * buyersOfTurn, (turn + 1) * buyersOfTurn));
      await server.start();
      await untilWhole(world.stack);
      rows.push([turn + 1, callers.failures() - before, callers.longestGapMs()]);
    }
    await callers.stop();
    const now = new Date();
    const result = await judge(world, callers, { moment: now, reopened: now });
    printTable(['server lost', 'failed requests', 'longest time without an answer 200 so far, ms'], rows);
    say(
      `\n${JSON.stringify({ answered: callers.answered.size, failed: Object.fromEntries(callers.failed), ...result })}\n`,
    );
    if (sumOf(result) > 0) process.exitCode = 1;
  } finally {
    await world.stop();
  }
};

/** Waits until every server has a current copy of each stream: only then may another one be lost. */
const untilWhole = async (stack: Stack): Promise<void> => {
  const connection = await connectToBroker({ url: stack.natsUrlOf('operator'), name: 'operator' });
  const manager = await connection.jetstreamManager({ checkAPI: false });
  const isWhole = async (): Promise<boolean> => {
    const infos = await Promise.all(Object.values(streams).map(({ name }) => manager.streams.info(name)));
    return infos.every(({ cluster }) => {
      const replicas = cluster?.replicas ?? [];
      return replicas.length === NODES - 1 && replicas.every(({ current, offline }) => current && offline !== true);
    });
  };
  const endsAt = performance.now() + WHOLE_WITHIN_MS;
  while (!(await isWhole().catch(() => false))) {
    if (performance.now() > endsAt) throw new Error('the cluster does not become whole again');
    await sleep(200);
  }
  await connection.close();
};
