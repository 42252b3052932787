import { printCircumstances, say } from './harness/report.ts';

/** Options are the arguments after the names. */
type Measure = (options: readonly string[]) => Promise<void>;

/** All benchmarks, loaded on demand because their dependencies differ. */
const drivers: Readonly<Record<string, { about: string; load: () => Promise<Measure> }>> = {
  admission: {
    about: "billing's internal endpoint against the same function through bare pg",
    load: async () => (await import('./admission.ts')).measureAdmission,
  },
  settlements: {
    about: 'usage facts settled in a second, through bare pg and from NATS to rows',
    load: async () => (await import('./settlements.ts')).measureSettlements,
  },
  races: {
    about: 'the limit of two and budgets of apps, with races from two processes that are killed in turn',
    load: async () => (await import('./races.ts')).measureRaces,
  },
  chaos: {
    about: "settled use against the provider's own count, while gateway, billing, NATS and PostgreSQL are killed",
    load: async () => (await import('./chaos.ts')).measureChaos,
  },
  failover: {
    about: 'answers to callers while the primary of PostgreSQL is killed and its standby promoted',
    load: async () => (await import('./failover.ts')).measureFailover,
  },
  'nats-failover': {
    about: 'usage, purchases and webhooks while one of three servers of NATS is lost at a time',
    load: async () => (await import('./nats-failover.ts')).measureNatsFailover,
  },
  restore: {
    about: 'all databases to one moment under load, with NATS ahead and with an empty one: --ahead, --empty',
    load: async () => (await import('./restore.ts')).measureRestore,
  },
  scale: {
    about: 'admission, settlement and export with a year of finished requests against none, by turns',
    load: async () => (await import('./scale.ts')).measureScale,
  },
  capacity: {
    about: 'bytes that a request, a person, a connection and a webhook event leave in databases, streams and logs',
    load: async () => (await import('./capacity.ts')).measureCapacity,
  },
  tokens: {
    about: 'code exchange, refresh and authorize page against oidc-provider in memory',
    load: async () => (await import('./tokens.ts')).measureTokens,
  },
  polls: {
    about: 'processor time of auth for devices that wait for their person and poll',
    load: async () => (await import('./polls.ts')).measurePolls,
  },
  revocations: {
    about:
      'from a disconnect or sign-out to the refusal elsewhere; a start with a million revocations: --only refusals, load',
    load: async () => (await import('./revocations.ts')).measureRevocations,
  },
  deliveries: {
    about: 'webhooks over TLS against the bare https client, and commit to receiver',
    load: async () => (await import('./deliveries.ts')).measureDeliveries,
  },
  disorder: {
    about: 'webhooks under crashes, pauses and restarts: nothing lost, no gaps, order per app',
    load: async () => (await import('./webhooks/disorder.ts')).measureDisorder,
  },
  isolation: {
    about: 'webhooks of healthy receivers beside 1,000 that hang; the suspension of an app with many connections',
    load: async () => (await import('./isolation.ts')).measureIsolation,
  },
  gateway: {
    about: 'requests of API keys and apps against direct calls and a bare gateway that asks before it forwards',
    load: async () => (await import('./gateway.ts')).measureGateway,
  },
  memory: {
    about: 'resident memory of the gateway under large uploads and with a slow reader of a large stream',
    load: async () => (await import('./memory.ts')).measureMemory,
  },
  neighbors: {
    about: 'small requests of one account alone and beside callers and providers that attack: --only <text>',
    load: async () => (await import('./neighbors.ts')).measureNeighbors,
  },
  lighthouse: {
    about: 'pages of a running stack on desktop and phone, by Lighthouse: --url <base URL>',
    load: async () => (await import('./lighthouse.ts')).measureLighthouse,
  },
  overshoot: {
    about: 'prepaid money under parallel requests and kills, of this gateway or of another one: --adapter <file>',
    load: async () => (await import('./overshoot/main.ts')).measureOvershoot,
  },
  'gateway-peers': {
    about: 'the API-key route beside other gateways: --against <folder of the comparison> [its options]',
    load: async () => (await import('./gateway-peers.ts')).measureGatewayPeers,
  },
};

const words = process.argv.slice(2);
const firstOption = words.findIndex((word) => word.startsWith('--'));
const names = firstOption === -1 ? words : words.slice(0, firstOption);
const options = firstOption === -1 ? [] : words.slice(firstOption);
const unknown = names.filter((name) => !Object.hasOwn(drivers, name));
if (names.length === 0 || unknown.length > 0) {
  if (unknown.length > 0) say(`Unknown benchmark: ${unknown.join(', ')}.`);
  say('Run `pnpm bench <name> …` with any of these:');
  for (const [name, { about }] of Object.entries(drivers)) say(`  ${name.padEnd(14)} ${about}`);
  process.exitCode = unknown.length > 0 ? 1 : 0;
}
if (unknown.length === 0) {
  for (const name of names) {
    const measure = await drivers[name]?.load();
    printCircumstances(name);
    await measure?.(options);
  }
}
