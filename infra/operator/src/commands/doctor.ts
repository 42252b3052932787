import {
  consumingServices,
  inboxOperations,
  outboxOperations,
  publishingServices,
  type ServiceName,
} from '@svc/contracts';
import { AppError } from '@svc/service-kit';
import { type Command, type CommandContext, printTable } from '../command.ts';
import { checkLimits, checkMachine, type Finding, finding, type Reading, readMetrics } from '../doctor.ts';

/** Below half of what tokens tolerate. */
const CLOCK_MS_MAX = 5_000;
/** The alert StreamFilling has the same bound. */
const FILL_MAX = 0.7;
const WAIT_SECONDS_MAX = 30;

/** Says what will hurt within a week. For cron: exit code 1 if something needs attention. */
export const doctorCommands: readonly Command[] = [
  {
    words: ['doctor'],
    usage: '',
    about: 'check everything that will hurt within a week; 1 if something needs attention',
    run: async (context) => {
      const { findings, readings } = await readServices(context);
      findings.push(...checkLimits(readings), ...checkClocks(readings));
      findings.push(...(await checkStreams(context, readings)), ...(await checkDeadLetters(context, readings)));
      findings.push(...(await checkMachine(context.env)));
      printTable(
        context.print,
        ['CHECK', 'STATE', 'DETAIL'],
        findings.map(({ check, state, detail }) => [check, state, detail]),
      );
      return findings.every(({ state }) => state !== 'ATTENTION');
    },
  },
];

/** Reads the metrics of each service. One that does not answer is a finding. */
const readServices = async ({ addresses }: CommandContext) => {
  const { urls } = addresses();
  const readings = new Map<ServiceName, Reading>();
  const findings: Finding[] = [];
  for (const service of consumingServices) {
    const url = urls[service];
    try {
      if (url === undefined) throw new Error('its address is not known');
      readings.set(service, await readMetrics(url));
      findings.push(finding('service', true, service));
    } catch {
      findings.push(finding('service', false, `${service} does not answer`));
    }
  }
  return { findings, readings };
};

const checkClocks = (readings: ReadonlyMap<ServiceName, Reading>): Finding[] =>
  [...readings].flatMap(([service, { aheadMs }]) =>
    aheadMs === undefined
      ? []
      : [
          finding(
            'clock',
            Math.abs(aheadMs) < CLOCK_MS_MAX,
            `${service}: ${Math.round(aheadMs / 1_000)} s ahead of this one`,
          ),
        ],
  );

const checkStreams = async (
  { call }: CommandContext,
  readings: ReadonlyMap<ServiceName, Reading>,
): Promise<Finding[]> => {
  const findings: Finding[] = [];
  for (const service of publishingServices.filter((each) => readings.has(each))) {
    const health = await answerOf(() => call(outboxOperations[service].getOutboxHealth, {}));
    if (health === undefined) {
      findings.push(finding('outbox', false, `${service} does not say`));
      continue;
    }
    const waits = Math.round(health.oldest_unpublished_seconds);
    const trouble = health.broker_connected ? '' : ', and NATS is not connected';
    findings.push(
      finding(
        'outbox',
        health.broker_connected && waits < WAIT_SECONDS_MAX,
        `${service}: the oldest fact waits for ${waits} s${trouble}`,
      ),
    );
    for (const { stream, bytes, bytes_max } of health.streams) {
      if (bytes === null || bytes_max === null) continue;
      findings.push(
        finding('stream', bytes < FILL_MAX * bytes_max, `${stream}: ${Math.round((100 * bytes) / bytes_max)} % full`),
      );
    }
  }
  return findings;
};

const checkDeadLetters = async (
  { call }: CommandContext,
  readings: ReadonlyMap<ServiceName, Reading>,
): Promise<Finding[]> => {
  const findings: Finding[] = [];
  for (const service of consumingServices.filter((each) => readings.has(each))) {
    const answer = await answerOf(() => call(inboxOperations[service].listConsumers, {}));
    const count = answer?.dead_letters;
    findings.push(finding('dead letters', count === 0, `${service}: ${count ?? 'unknown'}`));
  }
  return findings;
};

/** Returns undefined if the service refuses or does not answer. */
const answerOf = async <T>(ask: () => Promise<T>): Promise<T | undefined> => {
  try {
    return await ask();
  } catch (error) {
    if (error instanceof AppError) return undefined;
    throw error;
  }
};
