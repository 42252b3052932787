import { printCircumstances, say } from './harness/report.ts';

/** What can be measured. Loaded when asked for, as each needs other things. */
const drivers: Readonly<Record<string, { about: string; load: () => Promise<() => Promise<void>> }>> = {
  admission: {
    about: "billing's internal endpoint against the same function through bare pg",
    load: async () => (await import('./admission.ts')).measureAdmission,
  },
  tokens: {
    about: 'code exchange, refresh and authorize page against oidc-provider in memory',
    load: async () => (await import('./tokens.ts')).measureTokens,
  },
  revocations: {
    about: 'from the answer to a disconnect or sign-out to the refusal in other services',
    load: async () => (await import('./revocations.ts')).measureRevocations,
  },
  deliveries: {
    about: 'webhooks over TLS against the bare https client, and commit to receiver',
    load: async () => (await import('./deliveries.ts')).measureDeliveries,
  },
  gateway: {
    about: 'the API-key route against calling the provider directly',
    load: async () => (await import('./gateway.ts')).measureGateway,
  },
};

const names = process.argv.slice(2);
const unknown = names.filter((name) => !Object.hasOwn(drivers, name));
if (names.length === 0 || unknown.length > 0) {
  if (unknown.length > 0) say(`There is no benchmark ${unknown.join(', ')}.`);
  say('Run `pnpm bench <name> …` with any of these:');
  for (const [name, { about }] of Object.entries(drivers)) say(`  ${name.padEnd(12)} ${about}`);
  process.exitCode = unknown.length > 0 ? 1 : 0;
}
if (unknown.length === 0) {
  for (const name of names) {
    const measure = await drivers[name]?.load();
    printCircumstances(name);
    await measure?.();
  }
}
