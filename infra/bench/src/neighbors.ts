import { availableParallelism } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { type TestTokens, testTokens } from '@svc/testing';
import { freePort } from '@svc/testing/servers';
import {
  createKeys,
  createSubscribers,
  type GatewayUnderTest,
  startGateway,
  startProvider,
} from './gateway-under-test.ts';
import type { NodeProcess } from './harness/node-process.ts';
import { loadText, printTable, say } from './harness/report.ts';
import { foreignShare, processorMicroseconds, residentMegabytes, watchPeak } from './harness/resources.ts';
import { type Stack, startStack } from './harness/stack.ts';
import { summarize } from './harness/statistics.ts';
import type { AttackOrder, AttackReport } from './neighbors/attacks.ts';
import { type Attackers, SCENARIOS, type Scenario } from './neighbors/attacks.ts';
import { openVictim, type Victim, type VictimRequest, type VictimTimes } from './neighbors/victim.ts';

const SECONDS = Number(process.env['BENCH_SECONDS'] ?? 3);
const ROUNDS = Number(process.env['BENCH_ROUNDS'] ?? 3);
const ONLY = '--only';
/** Priority of the attacking processes: the lowest, unless the whole run has another one. */
const NICE = process.env['BENCH_ATTACKER_NICE'] ?? '19';
/** The largest number of connections with an account each. */
const ACCOUNTS = 8;
const WARM_UP_SECONDS = 2;
/** Time until an attack takes effect. */
const ONSET_MS = 500;
/** Time until the effects of an attack, such as connections and memory, have gone. */
const REST_MS = 1_000;
const HOSTILE_MODELS = ['sink', 'empty-choices', 'one-event', 'events'];

interface World extends GatewayUnderTest {
  readonly stack: Stack;
  readonly victim: Victim;
  readonly attacker: NodeProcess;
  readonly credentials: Readonly<Record<Attackers, readonly string[]>>;
}

/** One phase: the victim's times and each party's processor time. */
interface Phase extends VictimTimes {
  readonly seconds: number;
  readonly microseconds: Readonly<Record<'gateway' | 'attacker' | 'driver', number>>;
}

/** A scenario over all rounds. */
interface Comparison {
  readonly alone: Phase[];
  readonly beside: Phase[];
  readonly reports: AttackReport[];
  peakMegabytes: number;
}

/**
 * Compares the small requests of one account alone and during each attack in `SCENARIOS`. `--only <text>` selects
 * scenarios whose name or attackers contain the text.
 */
export const measureNeighbors = async (options: readonly string[]): Promise<void> => {
  const at = options.indexOf(ONLY);
  const wanted = at === -1 ? '' : (options[at + 1] ?? '');
  const scenarios = SCENARIOS.filter((scenario) => nameOf(scenario).includes(wanted));
  const stack = await startStack();
  const tokens = await testTokens();
  try {
    const world = await prepare(stack, tokens);
    await world.victim.measure(WARM_UP_SECONDS);
    const results = new Map<Scenario, Comparison>();
    for (let round = 0; round < ROUNDS; round += 1) {
      for (const scenario of scenarios) {
        const comparison = results.get(scenario) ?? { alone: [], beside: [], reports: [], peakMegabytes: 0 };
        results.set(scenario, comparison);
        await compare(world, scenario, comparison);
        process.stderr.write(`${nameOf(scenario)}: ${cells(comparison).join(' | ')}\n`);
      }
    }
    report(results);
    say(`Resident memory of the gateway at the end: ${residentMegabytes(world.gateway.process.pid)} MB.`);
    say(`Foreign CPU share after: ${(await foreignShare()).toFixed(2)}, load average ${loadText()}.\n`);
    await world.victim.close();
  } finally {
    await tokens.stop();
    await stack.stop();
  }
};

const nameOf = ({ attackers, name }: Scenario): string => `${attackers}: ${name}`;

const prepare = async (stack: Stack, tokens: TestTokens): Promise<World> => {
  const honest = await startProvider(stack);
  const hostileUrl = await startHostileProvider(stack);
  const services = await startGateway(stack, {
    tokens,
    ...honest,
    editRoutes: (text) => addHostileRoutes(text, hostileUrl),
    launch: { isBundled: true, flags: profileFlags() },
  });
  const [key = '', ...funded] = await createKeys(services, tokens, 1 + ACCOUNTS);
  const attacker = await stack.startScript(new URL('./attacker/main.ts', import.meta.url).pathname, { NICE });
  return {
    ...services,
    stack,
    attacker,
    victim: openVictim(services.gateway.url, key),
    credentials: {
      funded,
      unfunded: await createKeys(services, tokens, ACCOUNTS, 0),
      delegated: await createSubscribers(services, tokens, ACCOUNTS),
    },
  };
};

/** Stores a profile of the gateway if a folder is named. */
const profileFlags = (): readonly string[] => {
  const folder = process.env['BENCH_PROFILE'];
  return folder === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${folder}`];
};

const startHostileProvider = async (stack: Stack): Promise<string> => {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const script = new URL('./hostile-provider/main.ts', import.meta.url).pathname;
  const provider = await stack.startScript(script, { PORT: String(port), NICE });
  await provider.ready(url);
  return url;
};

/** Adds a provider and a route for each hostile response; delegated requests go to the honest one. */
const addHostileRoutes = (text: string, url: string): string => {
  const provider = (model: string): string =>
    `  ${model}: { base_url: "${url}/${model}", api_key_env: SANDBOX_PROVIDER_KEY, name: Hostile }\n`;
  const route = (model: string): string =>
    `  - { id: ${model}, model: ${model}, provider: ${model}, upstream_model: hostile-1, service: chat, data_zone: EU, active: true,` +
    ` certification: { reference: BENCH, certified_at: 2026-01-01, expires_at: 2036-01-01 },` +
    ` price: { input_micros_per_million: 200000, output_micros_per_million: 600000 } }\n`;
  return text
    .replace('providers:\n', `providers:\n${HOSTILE_MODELS.map(provider).join('')}`)
    .replace('routes:\n', `routes:\n${HOSTILE_MODELS.map(route).join('')}`)
    .replace('chat: [chat-eu]', 'chat: [sink]');
};

const compare = async (world: World, { attack, attackers }: Scenario, comparison: Comparison): Promise<void> => {
  const { gateway, attacker, credentials } = world;
  const order = async (message: AttackOrder): Promise<unknown> => {
    const answer = message.order === 'go' ? undefined : attacker.message();
    attacker.send(message);
    return await answer;
  };
  await order({ order: 'prepare', attack, url: gateway.url, credentials: credentials[attackers] });
  comparison.alone.push(await measurePhase(world));
  const peak = watchPeak(gateway.process.pid);
  await order({ order: 'go' });
  await sleep(ONSET_MS);
  comparison.beside.push(await measurePhase(world));
  // The attacking process answers this order with its report.
  comparison.reports.push((await order({ order: 'stop' })) as AttackReport);
  await sleep(REST_MS);
  comparison.peakMegabytes = Math.max(comparison.peakMegabytes, peak.stop());
};

const measurePhase = async ({ victim, gateway, attacker }: World): Promise<Phase> => {
  const used = () => ({
    gateway: processorMicroseconds(gateway.process.pid),
    attacker: processorMicroseconds(attacker.pid),
    driver: processorMicroseconds(process.pid),
  });
  const before = used();
  const startedAt = performance.now();
  const times = await victim.measure(SECONDS);
  const after = used();
  return {
    ...times,
    seconds: (performance.now() - startedAt) / 1_000,
    microseconds: {
      gateway: after.gateway - before.gateway,
      attacker: after.attacker - before.attacker,
      driver: after.driver - before.driver,
    },
  };
};

const report = (results: ReadonlyMap<Scenario, Comparison>): void => {
  say('Times of the victim in ms, alone and beside; shares are of all cores:\n');
  printTable(
    [
      ...['attack', 'chat p50', 'chat p99', 'times', 'models p99', 'times', 'faults', 'peak MB'],
      ...['gateway CPU', 'attacker CPU', 'driver CPU', 'attackers were answered'],
    ],
    [...results].map(([scenario, comparison]) => [nameOf(scenario), ...cells(comparison)]),
  );
  const faults = [...results.values()].flatMap(({ alone, beside }) =>
    [...alone, ...beside].flatMap((phase) => phase.faults),
  );
  for (const fault of new Set(faults)) say(`A request of the victim failed: ${fault}`);
};

const cells = ({ alone, beside, reports, peakMegabytes }: Comparison): (string | number)[] => {
  const of = (phases: readonly Phase[], request: VictimRequest) =>
    summarize(phases.flatMap(({ milliseconds }) => milliseconds[request]));
  const pair = (request: VictimRequest, which: 'p50' | 'p99'): [string, string] => {
    const first = of(alone, request)[which];
    const second = of(beside, request)[which];
    return [`${first.toFixed(1)} / ${second.toFixed(1)}`, (second / first).toFixed(2)];
  };
  const share = (party: keyof Phase['microseconds']): string => {
    const used = beside.reduce((sum, { microseconds }) => sum + microseconds[party], 0);
    const seconds = beside.reduce((sum, phase) => sum + phase.seconds, 0);
    return (used / 1e6 / seconds / availableParallelism()).toFixed(2);
  };
  const faults = beside.reduce((sum, phase) => sum + phase.faults.length, 0);
  return [
    pair('chat', 'p50')[0],
    ...pair('chat', 'p99'),
    ...pair('models', 'p99'),
    ...[String(faults), peakMegabytes, share('gateway'), share('attacker'), share('driver')],
    answersOf(reports),
  ];
};

const answersOf = (reports: readonly AttackReport[]): string => {
  const counts = new Map<string, number>();
  for (const { answers } of reports) {
    for (const [status, count] of Object.entries(answers)) counts.set(status, (counts.get(status) ?? 0) + count);
  }
  const megabytes = reports.reduce((sum, { megabytesSent }) => sum + megabytesSent, 0);
  return `${[...counts].map(([status, count]) => `${count} × ${status}`).join(', ')}; ${megabytes} MB sent`;
};
