import { Agent, request } from 'node:https';
import { streams } from '@svc/contracts';
import { closedLoop, interleave, type Round, timed } from './harness/load.ts';
import { loadText, printTable, say } from './harness/report.ts';
import { familyMicroseconds, foreignShare, processorMicroseconds } from './harness/resources.ts';
import { readable, summarize } from './harness/statistics.ts';
import {
  arrivalsOf,
  BODY,
  startFactTeller,
  startWorld,
  storeBacklog,
  type World,
} from './webhooks/dispatcher-under-test.ts';
import { followFacts } from './webhooks/stages.ts';

const SECONDS = Number(process.env['BENCH_SECONDS'] ?? 3);
const ROUNDS = Number(process.env['BENCH_ROUNDS'] ?? 3);
const APPS = 200;
/** The dispatcher attempts at most one event per app at a time, and so does the bare client. */
const CALLERS = APPS;
/** Half of the target of 2,400 deliveries per second and process. */
const HALF_LOAD = 1_200;
const LATENCY_SECONDS = 8;
const WARM_UP_SECONDS = 2;

/** Measures the dispatcher against the bare https client, and the time from commit to receiver at half load. */
export const measureDeliveries = async (options: readonly string[] = []): Promise<void> => {
  const isOnly = (part: string) => options.length === 0 || options.includes(`--${part}`);
  // Makes PostgreSQL record the commit time of each transaction.
  const world = await startWorld({ flags: { track_commit_timestamp: 'on' } });
  try {
    if (isOnly('kept')) await compareRates(world, { path: '/hook', isKept: true, perApp: 60 });
    if (isOnly('cold')) await compareRates(world, { path: '/cold', isKept: false, perApp: 15 });
    if (isOnly('latency')) {
      await measureLatency(world, { eventsPerFact: 2 });
      await measureLatency(world, { eventsPerFact: 1 });
    }
  } finally {
    await world.stop();
  }
};

interface Mode {
  readonly path: string;
  readonly isKept: boolean;
  readonly perApp: number;
}

/** Processes whose processor time is measured. */
const PARTIES = ['dispatcher', 'postgres', 'receiver', 'driver'] as const;
type Use = Record<(typeof PARTIES)[number], number>;

const useNow = ({ dispatcher, stack, receiver }: World): Use => ({
  dispatcher: processorMicroseconds(dispatcher.process.pid),
  postgres: familyMicroseconds(stack.postgres.pid()),
  receiver: processorMicroseconds(receiver.pid),
  driver: processorMicroseconds(process.pid),
});

/** Sums processor time per party and call. */
const createUsage = (world: World) => {
  let total: Use = { dispatcher: 0, postgres: 0, receiver: 0, driver: 0 };
  let calls = 0;
  return {
    begin: () => {
      const before = useNow(world);
      return (count: number): void => {
        const after = useNow(world);
        for (const party of PARTIES) total[party] += after[party] - before[party];
        calls += count;
      };
    },
    reset: () => {
      total = { dispatcher: 0, postgres: 0, receiver: 0, driver: 0 };
      calls = 0;
    },
    perCall: () => PARTIES.map((party) => total[party] / calls),
  };
};

const compareRates = async (world: World, mode: Mode): Promise<void> => {
  const { receiver, database } = world;
  const clientIds = await world.addApps(APPS, mode.path);
  const usage = createUsage(world);
  const bareUsage = createUsage(world);
  const deliver = async (perApp: number): Promise<Round> => {
    let end: (count: number) => void = () => undefined;
    const arrivals = await arrivalsOf(receiver, APPS * perApp, async () => {
      await storeBacklog(database, clientIds, perApp);
      // Storing events is not part of delivering them.
      end = usage.begin();
    });
    end(arrivals.length);
    const first = arrivals[0]?.[1] ?? 0;
    const last = arrivals.at(-1)?.[1] ?? 0;
    return { rate: ((arrivals.length - 1) / (last - first)) * 1000, milliseconds: [] };
  };
  const agent = new Agent({ keepAlive: mode.isKept, maxSockets: CALLERS, ca: world.certificateAuthority });
  const post = () => timed(() => postBare(`${world.origin}${mode.path}`, agent));
  const bare = async (): Promise<Round> => {
    const end = bareUsage.begin();
    const round = await closedLoop({ callers: CALLERS, seconds: SECONDS }, post);
    end(round.milliseconds.length);
    return round;
  };
  // Warms up: the dispatcher limits unknown receivers, and code is slow at first.
  await deliver(10);
  await bare();
  await deliver(mode.perApp);
  for (const each of [usage, bareUsage]) each.reset();
  const { results, foreign } = await interleave({ dispatcher: () => deliver(mode.perApp), bare }, ROUNDS);
  agent.destroy();
  const kind = mode.isKept ? 'Kept-alive TLS' : 'A TLS connection for each delivery';
  say(
    `${kind}, one receiver, ${APPS} apps with ${mode.perApp} events each; foreign CPU share ${foreign.toFixed(2)}:\n`,
  );
  const share = `${Math.round((results.dispatcher.rate / results.bare.rate) * 100)} %`;
  printTable(
    ['', 'deliveries/s', 'share of bare', ...PARTIES.map((party) => `${party} CPU us`)],
    [
      ['dispatcher, one process', results.dispatcher.rate, share, ...usage.perCall()],
      [`bare https client, ${CALLERS} at a time`, results.bare.rate, '100 %', ...bareUsage.perCall()],
    ],
  );
};

const postBare = (url: string, agent: Agent): Promise<void> =>
  new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/json', 'content-length': BODY.length };
    const call = request(url, { method: 'POST', agent, headers }, (response) => {
      response.resume();
      response.once('end', resolve);
    });
    call.once('error', reject);
    call.end(BODY);
  });

/**
 * Commits auth events at half load and measures the time from each commit to the receiver, through auth's relay and
 * NATS. A connection of a user with a subscription causes two events; the second waits for the first.
 */
const measureLatency = async (world: World, { eventsPerFact }: { eventsPerFact: 1 | 2 }): Promise<void> => {
  const { stack, receiver, database } = world;
  const clientIds = await world.addApps(APPS, '/hook');
  const rate = HALF_LOAD / eventsPerFact;
  world.subscribe(eventsPerFact === 2);
  const teller = await startFactTeller(stack);
  const tell = async (seconds: number) => {
    const count = Math.ceil(rate * seconds);
    let told: readonly [string, string][] = [];
    const arrivals = await arrivalsOf(receiver, count * eventsPerFact, async () => {
      told = await teller.connect({ clientIds, count, rate });
    });
    return { told, arrivals };
  };
  // Warms up receivers and code.
  await tell(WARM_UP_SECONDS);
  const foreign = await foreignShare();
  const use = () => ({
    ...useNow(world),
    nats: processorMicroseconds(stack.nats.pid()),
    'outbox and relay': processorMicroseconds(teller.pid),
  });
  const before = Object.entries(use());
  const { told, arrivals } = await tell(LATENCY_SECONDS);
  const after = Object.values(use());
  const { taken, stages } = await followFacts({
    natsUrl: stack.natsUrlOf('operator'),
    stream: streams.auth.name,
    authDatabaseUrl: teller.databaseUrl,
    database,
    told,
    arrivals,
  });
  const { count: samples, p50, p99, max } = summarize(taken);
  const took = ((arrivals.at(-1)?.[1] ?? 0) - (arrivals[0]?.[1] ?? 0)) / 1000;
  say(
    `Commit of the fact to the receiver; ${readable(rate)} facts/s committed, ${eventsPerFact} to deliver for each, ${readable(arrivals.length / took)} deliveries/s came through; foreign CPU share ${foreign.toFixed(2)}:\n`,
  );
  printTable(['', 'samples', 'p50 ms', 'p99 ms', 'max ms'], [['total', String(samples), p50, p99, max]]);
  printTable(
    ['of it', 'p50 ms', 'p99 ms'],
    stages.map((stage) => [stage.name, stage.p50, stage.p99]),
  );
  printTable(
    before.map(([party]) => `${party} CPU us`),
    [before.map(([, used], index) => ((after[index] ?? Number.NaN) - used) / arrivals.length)],
  );
  say(`Load average after: ${loadText()}.\n`);
  await teller.stop();
};
