import { setTimeout as sleep } from 'node:timers/promises';
import {
  type AfterRestore,
  accountOperations,
  type ConsumingService,
  consumingServices,
  previewRestore,
  restoreOperations,
} from '@svc/contracts';
import { AppError } from '@svc/service-kit';
import { argument, type Command, type CommandContext, oneOf, printTable } from '../command.ts';
import { UsageError } from '../operator-error.ts';

const TRIES_MAX = 5;
const TRY_AGAIN_MS = 2_000;
/** Billing asks the payment provider for every live subscription, and announces every customer. */
const TIMEOUT_MS = 6 * 3_600_000;
/** A fact may have been published some time before its consumer handled it. */
const LAG_MARGIN_MS = 3_600_000;

/** Consequences of a database that was restored to an earlier moment. */
export const afterRestoreCommands: readonly Command[] = [
  {
    words: ['after-restore'],
    usage: `<${consumingServices.join('|')}> --restored-to <RFC 3339> [--dry-run]`,
    argumentsMax: 1,
    about: 'begin a new epoch, catch up with the payment provider, announce the present state, read facts again',
    options: {
      'restored-to': { type: 'string' },
      'dry-run': { type: 'boolean' },
    },
    run: async (context) => {
      const service = oneOf(argument(context, 0, 'the service'), consumingServices);
      const moment = restoredTo(context.values);
      if (context.values['dry-run'] === true) return await preview(context, service, moment);
      const done = await afterRestore(context, service, moment);
      if (done.epoch !== null) {
        context.print(`${service}: epoch ${done.epoch} since ${done.began_at}`);
        if (service !== 'inference-gateway') context.print(reportOf(service, done));
      }
      context.print(`${service}: its consumers read ${done.read_again} facts again and ignore those that it knows`);
      if (service !== 'auth') await announceErasuresTo(context, service, moment - LAG_MARGIN_MS);
      return printFailed(context, done.failed);
    },
  },
];

const reportOf = (service: ConsumingService, { reconciled, announced }: AfterRestore): string =>
  service === 'auth'
    ? `tokens that it does not know are ended; ${reconciled} accounts that were erased since are erased again`
    : `${reconciled} objects of the payment provider taken over, ${announced} announced`;
/** Prints what billing would do, and changes nothing. */
const preview = async (context: CommandContext, service: ConsumingService, moment: number): Promise<boolean> => {
  if (service !== 'billing') throw new UsageError('only billing has effects outside its database: --dry-run is for it');
  const body = { restored_to: new Date(moment).toISOString() };
  const { effects, reconciled, announced, failed } = await context.call(previewRestore, {
    body,
    timeoutMs: TIMEOUT_MS,
  });
  printTable(
    context.print,
    ['WOULD', 'ACCOUNT', 'OBJECT', 'MICROS', 'CURRENCY'],
    effects.map((each) => [each.action, each.svc_user_id, each.object, each.amount_micros, each.currency]),
  );
  context.print(`${reconciled} objects of the payment provider compared, ${announced} customers would be announced`);
  context.print('nothing was changed');
  return printFailed(context, failed);
};

/** Lists what failed. Returns true if nothing did. */
const printFailed = ({ print }: CommandContext, failed: AfterRestore['failed']): boolean => {
  if (failed.length === 0) return true;
  print(`${failed.length} objects could not be taken over; the others were`);
  printTable(
    print,
    ['OBJECT', 'REASON'],
    failed.map(({ object, reason }) => [object, reason]),
  );
  return false;
};

/** Date, time and zone, as in RFC 3339 section 5.6. */
const RFC_3339 = /^\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)$/;

/** Returns the option's time in milliseconds since the epoch. */
const restoredTo = (values: CommandContext['values']): number => {
  const text = String(values['restored-to'] ?? '');
  const timeMs = Date.parse(text);
  if (!RFC_3339.test(text) || Number.isNaN(timeMs))
    throw new UsageError('--restored-to is missing or no RFC 3339 time');
  if (timeMs > Date.now()) throw new UsageError('--restored-to is in the future');
  return timeMs;
};

const afterRestore = async (
  context: CommandContext,
  service: ConsumingService,
  moment: number,
): Promise<AfterRestore> => {
  const body = { restored_to: new Date(moment).toISOString() };
  return await patiently(context, service, () =>
    context.call(restoreOperations[service], { body, timeoutMs: TIMEOUT_MS }),
  );
};

/** Has auth publish again which accounts were erased since. Its outbox keeps only the facts of the last days. */
const announceErasuresTo = async (context: CommandContext, service: ConsumingService, sinceMs: number) => {
  const body = { since: new Date(sinceMs).toISOString() };
  const { announced } = await patiently(context, 'auth', () =>
    context.call(accountOperations.announceErasures, { body }),
  );
  context.print(`auth: publishes ${announced} erasures again, so that ${service} erases what was restored`);
};

/** Repeats a call. A service that has just started over a restored database may not be able to do all of it yet. */
const patiently = async <T>({ print }: CommandContext, service: string, call: () => Promise<T>): Promise<T> => {
  for (let tries = 1; ; tries += 1) {
    try {
      return await call();
    } catch (error) {
      if (!(error instanceof AppError) || error.kind !== 'unavailable' || tries === TRIES_MAX) throw error;
      const reason = error.code === 'service_unavailable' ? 'unavailable' : error.code;
      print(`${service}: ${reason}; trying again`);
      await sleep(TRY_AGAIN_MS);
    }
  }
};
