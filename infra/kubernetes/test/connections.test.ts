import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { connectionsMaxOf, connectionsOf, RESERVED } from './support/connections.ts';
import { overlay } from './support/overlays.ts';

const README = readFileSync(new URL('../README.md', import.meta.url), 'utf8');
/** PostgreSQL offers round figures. */
const STEP = 50;

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);

test('README states the connections that production opens at most, and a server that has them', async () => {
  const all = await connectionsOf(overlay('production'));
  const rows = [...README.matchAll(/^\| `([a-z-]+)` \| (\d+) \| (\d+) \| (\d+) \|/gm)];
  expect(rows.map(([, service, ...figures]) => [service, ...figures.map(Number)])).toEqual(
    all.map(({ service, replicas, perReplica, total }) => [service, replicas, perReplica, total]),
  );
  const needed = sum(all.map(({ total }) => total)) + RESERVED;
  expect(README).toContain(`max_connections = ${Math.ceil(needed / STEP) * STEP}`);
});

test('the PostgreSQL of the local overlay has enough connections', async () => {
  const needed = sum((await connectionsOf(overlay('local'))).map(({ total }) => total)) + RESERVED;
  expect(needed).toBeLessThanOrEqual(connectionsMaxOf(overlay('local'), 'postgres'));
});
