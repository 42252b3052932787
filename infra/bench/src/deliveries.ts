import { Agent, request } from 'node:https';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect } from 'nats';
import { closedLoop, interleave, type Round, timed } from './harness/load.ts';
import { familyMicroseconds, foreignShare, processorMicroseconds } from './harness/processor-time.ts';
import { loadText, printTable, say } from './harness/report.ts';
import { readable, summarize } from './harness/statistics.ts';
import {
  arrivalsOf,
  BODY,
  connectionCreated,
  startWorld,
  storeBacklog,
  type World,
} from './webhooks/dispatcher-under-test.ts';

const SECONDS = Number(process.env['BENCH_SECONDS'] ?? 3);
const ROUNDS = Number(process.env['BENCH_ROUNDS'] ?? 3);
const APPS = 200;
/** The dispatcher attempts at most one event of each app at a time, and so does the bare client. */
const CALLERS = APPS;
/** Half of the 2,400 deliveries a second that one process is to make. */
const HALF_LOAD = 1_200;
const LATENCY_SECONDS = 8;
const TICK_MS = 5;
const PUBLISH_TIMEOUT_MS = 60_000;

/** Measures the dispatcher against the bare https client, and from a commit to the receiver at half load. */
export const measureDeliveries = async (): Promise<void> => {
  // PostgreSQL then knows when each transaction has committed.
  const world = await startWorld({ flags: { track_commit_timestamp: 'on' } });
  try {
    await compareRates(world, { path: '/hook', isKept: true, perApp: 60 });
    await compareRates(world, { path: '/cold', isKept: false, perApp: 15 });
    await measureLatency(world, HALF_LOAD);
  } finally {
    await world.stop();
  }
};

interface Mode {
  readonly path: string;
  readonly isKept: boolean;
  readonly perApp: number;
}

/** Who of the measured uses processor time. */
const PARTIES = ['dispatcher', 'postgres', 'receiver', 'driver'] as const;
type Use = Record<(typeof PARTIES)[number], number>;

const useNow = ({ dispatcher, stack, receiver }: World): Use => ({
  dispatcher: processorMicroseconds(dispatcher.process.pid),
  postgres: familyMicroseconds(stack.postgres.pid()),
  receiver: processorMicroseconds(receiver.pid),
  driver: processorMicroseconds(process.pid),
});

/** Adds up who uses how much processor time for how many calls. */
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
  const [usage, bareUsage] = [createUsage(world), createUsage(world)];
  const deliver = async (perApp: number): Promise<Round> => {
    let end: (count: number) => void = () => undefined;
    const arrivals = await arrivalsOf(receiver, APPS * perApp, async () => {
      await storeBacklog(database, clientIds, perApp);
      // Storing them is not a part of delivering them.
      end = usage.begin();
    });
    end(arrivals.length);
    const [first, last] = [arrivals[0]?.[1] ?? 0, arrivals.at(-1)?.[1] ?? 0];
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
  // Receivers are met with caution before they have been seen to answer soon, and code runs slowly before it is warm.
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

/** Tells facts of auth at this rate, and reads when the events that they cause were committed and when they arrived. */
const measureLatency = async (world: World, rate: number): Promise<void> => {
  const { stack, receiver, database } = world;
  const clientIds = await world.addApps(APPS, '/hook');
  // Their receivers are known to answer soon.
  await arrivalsOf(receiver, APPS, () => storeBacklog(database, clientIds, 1));
  const count = Math.ceil(rate * LATENCY_SECONDS);
  const nats = await connect({ servers: stack.natsUrl });
  const jetstream = nats.jetstream();
  const foreign = await foreignShare();
  let acknowledged = 0;
  const arrivals = await arrivalsOf(receiver, count, async () => {
    const startedAt = performance.now();
    const open: Promise<unknown>[] = [];
    while (open.length < count) {
      const due = Math.min(count, Math.ceil(((performance.now() - startedAt) / 1000) * rate));
      while (open.length < due) {
        const fact = connectionCreated(clientIds[open.length % clientIds.length] ?? '');
        const options = { msgID: fact.id, timeout: PUBLISH_TIMEOUT_MS };
        open.push(jetstream.publish(fact.subject, JSON.stringify(fact), options));
      }
      await sleep(TICK_MS);
    }
    await Promise.all(open);
    acknowledged = count / ((performance.now() - startedAt) / 1000);
  });
  await nats.drain();
  const { rows } = await database.query<{ event_id: string; committed: number }>(
    `SELECT e.event_id, (extract(epoch FROM pg_xact_commit_timestamp(i.xmin)) * 1000)::float8 AS committed
     FROM inbox i JOIN events e ON e.fact_id = i.event_id`,
  );
  const committed = new Map(rows.map((row) => [row.event_id, row.committed]));
  const taken = arrivals.map(([id, at]) => at - (committed.get(id) ?? Number.NaN)).filter((ms) => !Number.isNaN(ms));
  const { count: samples, p50, p99, max } = summarize(taken);
  const took = ((arrivals.at(-1)?.[1] ?? 0) - (arrivals[0]?.[1] ?? 0)) / 1000;
  say(
    `Commit to receiver; of ${readable(rate)} facts/s told, NATS acknowledged ${readable(acknowledged)}/s and ${readable(count / took)}/s came through; foreign CPU share ${foreign.toFixed(2)}:\n`,
  );
  printTable(['samples', 'p50 ms', 'p99 ms', 'max ms'], [[String(samples), p50, p99, max]]);
  say(`Load average after: ${loadText()}.\n`);
};
